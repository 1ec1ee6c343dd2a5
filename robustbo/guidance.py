"""Advice in place of Python's own words, for calls written as in other libraries, or by a guess."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from robustbo.validation import nearest

SHOWN = 120  # characters of a signature that are shown as a whole
TABLE = "_frame"  # how a method that takes a table is called: tell, tell_frame
NAMES = {  # how an argument is written: what other libraries call it
    'direction="maximize"': "maximize",
    'direction="minimize"': "minimize",
    "direction=...": "mode goal",
    "objectives={NAME: DIRECTION, ...}": "directions metrics objective",
    "seed=...": "random_state random_seed rng",
    "surrogate=...": "model estimator base_estimator",
    'surrogate_options={"kernel": ...}': "kernel",
    'surrogate_options={"outlier_rate": ...}': "outlier_rate contamination",
    "acquisition=...": "acq_func acq acquisition_function acqf",
    "num_initial=...": "n_initial n_initial_points init_points n_startup_trials num_initialization_trials",
    "prior_data=...": "data prior initial_points X_init",
    "num_trials=...": "n_trials n_calls n_iter max_trials trials max_iter n",
    "jobs=...": "n_jobs workers num_workers",
    "n=...": "n_points batch_size count num n_suggestions",
    "sd=...": "std sigma sem noise error err",
    "value=...": "y result outcome loss target",
    "trial={NAME: VALUE, ...}": "params parameters x X point",
    "points={NAME: VALUE, ...}": "params parameters x X point",
    "frame=...": "data df table",
    "trial=...": "number index id",
    "reason=...": "why note comment",
    "fixed={NAME: VALUE, ...}": "context fixed_features",
    "low=...": "min lower start lb",
    "high=...": "max upper stop ub",
    "low=..., high=...": "range bounds interval limits",
    "log=True": "scale log_scale prior",
    "step=...": "q resolution",
    "journal=...": "filename file path storage",
    'if_exists="resume"': "load_if_exists resume exist_ok",
}
STUDY = {  # what a study has: what others call it
    "ask()": "suggest next get_next_trials get_next_point propose sample",
    "tell(trial, value)": "observe register add add_observation complete_trial update report record",
    "optimize(func, num_trials)": "minimize maximize run fit",
    "best()": "best_params best_value best_trial best_point best_x max min result results get_best",
    "front()": "pareto pareto_front best_trials",
    "history": "trials observations data log X y",
    "frame()": "to_dataframe trials_dataframe get_trials_data_frame df summary",
    "outliers()": "anomalies suspects",
    "exclude(trial)": "remove delete drop",
    "enqueue(points)": "enqueue_trial add_point probe",
    "requeue(trial)": "release",
    "withdraw(trial)": "abandon cancel skip mark_trial_abandoned",
    "Optimizer.resume(journal)": "load open restore",
    'Optimizer(..., journal="study.jsonl"), which keeps it': "save dump to_file",
}
TRIAL = {
    "number": "id trial_id trial_index trial_number index",
    "params": "parameters x config suggestion arm point_dict best_params",
    "value": "y result objective_value score",
    "mean": "value y fun score target best_value",
}
TOP = {  # names of the package likewise
    "AtMost": "NChooseK NChooseKConstraint CardinalityConstraint ContinuousCardinalityConstraint",
    "Choice": "Categorical Discrete Category Enum choice",
    "Float": "Real Continuous Uniform LogUniform Range FloatParameter float",
    "Int": "Integer IntUniform IntParameter int",
    "Space": "SearchSpace Domain ParameterSpace",
    "Optimizer(space, direction=...)": "create_study BayesianOptimization BayesOpt BO Experiment Client create",
    "Optimizer(space, direction=...).optimize(func, num_trials)": "minimize maximize optimize fmin gp_minimize run",
    "Optimizer.resume(journal)": "load load_study resume open",
}
Function = TypeVar("Function", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)


def explain_misfits(*names: str) -> Callable[[Class], Class]:
    """A decorator of classes: a call that does not fit its signature says what the function takes.

    Args:
        names: Which of the class's own functions; all public ones, and its constructor, by default.

    Example:
        >>> @explain_misfits()
        ... class Lab:
        ...     def tell(self, trial, value, *, sd=None): ...
        >>> Lab().tell(3, 1.5, std=0.1)
        Traceback (most recent call last):
        TypeError: tell has no argument 'std'; write sd=...
    """

    def decorate(cls: Class) -> Class:
        own = [name for name in vars(cls) if name == "__init__" or not name.startswith("_")]
        for name in names or own:
            function = getattr(cls, name) if name == "__init__" else vars(cls)[name]
            if isinstance(function, classmethod):
                setattr(cls, name, classmethod(explain_calls(function.__func__)))
            elif inspect.isfunction(function):
                setattr(cls, name, explain_calls(function))
        return cls

    return decorate


def explain_calls(function: Function) -> Function:
    """A method whose calls that do not fit are explained; all else that it raises is as it was."""

    @functools.wraps(function)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return function(self, *args, **kwargs)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:  # it has been called
                raise
        raise TypeError(misfit(function, self, args, kwargs)) from None

    return call  # type: ignore[return-value]


def misfit(function: Callable[..., Any], self: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """The part of a call that does not fit, and how to call instead.

    Args:
        function: A method.
        self: Its object, or its class.
        args: What it was given.
        kwargs: By name.
    """
    cls = self if isinstance(self, type) else type(self)
    name = cls.__name__ if function.__name__ == "__init__" else function.__name__
    if any(type(arg).__name__ == "DataFrame" for arg in args) and hasattr(cls, name + TABLE):
        return f"{name} takes one at a time, got a data frame; {name}{TABLE} takes a table"
    parameters = parameters_of(function)
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    names = [p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    if unknown := [keyword for keyword in kwargs if keyword not in names]:
        advice = _suggestion(unknown[0], names, cls) or _signature_text(name, parameters)
        return f"{name} has no argument {unknown[0]!r}{advice}"
    if len(args) > len(positional):
        named = [f"{p.name}=..." for p in parameters if p.kind is p.KEYWORD_ONLY]
        advice = f"; write the others by name, such as {named[0]}" if named else _signature_text(name, parameters)
        alone = f"{' and '.join(p.name for p in positional)} alone" if positional else "nothing"
        return f"{name} takes {alone} without a name, got {len(args)} arguments{advice}"
    by_name = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    missing = [p.name for p in (*positional[len(args) :], *by_name) if p.default is p.empty and p.name not in kwargs]
    if missing:
        return f"{name} must be given {' and '.join(missing)}{_signature_text(name, parameters)}"
    return (
        f"{name} was given {positional[0].name if positional else [*kwargs]} twice{_signature_text(name, parameters)}"
    )


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters of a method besides its object."""
    return list(inspect.signature(function).parameters.values())[1:]


def _suggestion(name: str, names: Sequence[str], cls: type) -> str:
    """The argument that was meant: of this function by what others call it, or of another one, or the nearest word."""
    meant = {text.partition("=")[0]: text for text, words in NAMES.items() if name in words.split()}
    for word, text in meant.items():
        if word in names:
            return f"; write {text}"
    for word in (name, *(meant if len(meant) == 1 else ())):
        methods = (text for text in dir(cls) if not text.startswith("_") and inspect.isfunction(getattr(cls, text)))
        if having := [text for text in methods if word in [p.name for p in parameters_of(getattr(cls, text))]]:
            return f"; {' and '.join(having)} {'has' if len(having) == 1 else 'have'} {word}"
    return nearest(name, names)


class Guided:
    """A class that answers for an attribute that it has not by the one that was meant."""

    MEANT: ClassVar[Mapping[str, str]] = {}  # what it has: what others call it

    if not TYPE_CHECKING:  # which would take any attribute for one that is there

        def __getattr__(self, name: str) -> Any:
            if inspect.getattr_static(type(self), name, None) is not None:  # a property, whose own error it is
                return object.__getattribute__(self, name)
            raise AttributeError(f"{type(self).__name__} has no {name!r}{self._suggestion(name)}")

    def _suggestion(self, name: str) -> str:
        """The attribute that was meant, to end a message with."""
        public = [word for word in dir(self) if not word.startswith("_")]
        if name in vars(self).get("params", ()):
            return f"; write .params[{name!r}]"
        meant = {text: words for text, words in self.MEANT.items() if text not in TRIAL or text in public}
        return "" if name.startswith("_") else translation(name, meant) or nearest(name, public)


def translation(name: str, meant: Mapping[str, str]) -> str:
    """The name here for a name of other libraries, to end a message with; empty where there is none.

    Example:
        >>> translation("Categorical", TOP)
        '; write Choice'
    """
    return next((f"; write {text}" for text, words in meant.items() if name in words.split()), "")


def _signature_text(name: str, parameters: Sequence[inspect.Parameter]) -> str:
    plain = [parameter.replace(annotation=parameter.empty) for parameter in parameters]
    text = name + str(inspect.Signature(plain))
    return f"; it is {text}" if len(text) <= SHOWN else f"; help(robustbo.{name}) has its arguments"
