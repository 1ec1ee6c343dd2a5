"""The specification of the first kind of run: optimizations, whose methods meet the same trials."""

import math
from typing import Any, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

from robustbo import seeds
from robustbo.replay.spec.corruption import CorruptionSpec, NoiseSpec
from robustbo.replay.spec.method import MOST_REPLICATIONS, OF_ONE, OF_SEVERAL, Method, Strict, SurrogateChoice, by_name
from robustbo.replay.spec.old_study import OldStudySpec, check_method, sources_of_method
from robustbo.searchspace.space import Space
from robustbo.tasks.corruption import FAILURE, REPEATS, Corruption
from robustbo.tasks.failing import InjectedFailure
from robustbo.tasks.noise import noise
from robustbo.tasks.problem import Problem
from robustbo.tasks.problem import load as load_problem
from robustbo.tasks.problem import names as problem_names
from robustbo.tasks.repeats import Repeats
from robustbo.tasks.several import OutcomeCorruption, SeveralProblem
from robustbo.tasks.sources import WorkerError
from robustbo.tasks.sticking import Sticks
from robustbo.trials.former_names import in_old_names
from robustbo.validation import name_in_registry

UNSAID: Any = None
MOST_TRIALS = 100_000  # a replication


def _num_initial(space: Space) -> int:
    """The number of a specification that says none, whatever a study has by default: recorded runs have it."""
    return max(5, 2 * (sum(parameter.count != 1 for _, parameter in space.parameters) + 1))


class RunSpec(Strict):
    """One benchmark run: a problem, a corruption, and methods that meet the same trials.

    Attributes:
        kind: "optimization", which need not be said.
        title: Of the picture.
        problem: A registered problem.
        problem_options: What it takes, where it takes any.
        corruption: What goes wrong with the values; None for nothing.
        noise: The error that all values have, before anything goes wrong with them; none by default.
        old_studies: Name -> values of another source, which every method is told first unless they are hidden from it.
        methods: Name -> method; a plain list of names will do in the file.
        trials: Trials a replication, the initial ones included.
        num_initial: How many Sobol points come first; 2 (d + 1), at least 5, by default.
        replications: How often all of it is repeated.
        seed: Root of all randomness.
        recommend_every: After how many trials it is asked again what is recommended: after each, by default.
    """

    later = frozenset({"kind", "problem_options", "noise", "old_studies", "recommend_every"})
    how: ClassVar[type[SurrogateChoice]] = Method
    kind: Literal["optimization"] = "optimization"
    title: str = ""
    problem: str
    problem_options: dict[str, Any] = Field(default={}, validate_default=True)
    corruption: CorruptionSpec | None = None
    noise: NoiseSpec | None = None
    old_studies: dict[str, OldStudySpec] = Field(default={})
    methods: dict[str, Method] = Field(min_length=1)
    trials: int = Field(ge=1, le=MOST_TRIALS)
    num_initial: int = Field(default=UNSAID, ge=1, validate_default=True)
    replications: int = Field(ge=1, le=MOST_REPLICATIONS)
    seed: int = Field(default=0, ge=0)
    recommend_every: int = Field(default=1, ge=1)

    @field_validator("problem")
    @classmethod
    def _problem_exists(cls, name: str) -> str:
        return name_in_registry("problem", name, problem_names())

    @field_validator("problem_options")
    @classmethod
    def _problem_takes_them(cls, options: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        if "problem" in info.data:
            load_problem(info.data["problem"], **options)
        return options

    @field_validator("corruption")
    @classmethod
    def _check_corruption(cls, corruption: CorruptionSpec | None, info: ValidationInfo) -> CorruptionSpec | None:
        if corruption is not None and (problem := _problem(info)) is not None:
            corruption.build(problem)
        return corruption

    @field_validator("noise")
    @classmethod
    def _values_can_have_it(cls, noise_spec: NoiseSpec | None, info: ValidationInfo) -> NoiseSpec | None:
        if noise_spec is not None and isinstance(_problem(info), SeveralProblem):
            raise ValueError("noise needs a problem of one outcome")
        if noise_spec is not None and (wrong := info.data.get("corruption")) is not None and wrong.kind == REPEATS:
            raise ValueError(f"noise must not be set for {REPEATS!r}, whose values have their own noise")
        return noise_spec

    @field_validator("old_studies")
    @classmethod
    def _old_studies_can_be(cls, studies: dict[str, OldStudySpec], info: ValidationInfo) -> dict[str, OldStudySpec]:
        sources_of_method(studies)
        if studies and (problem := _problem(info)) is not None:
            if isinstance(problem, SeveralProblem):
                raise ValueError("old_studies need a problem of one outcome")
            for study in studies.values():
                study.build(problem)
        return studies

    @field_validator("methods", mode="before")
    @classmethod
    def _methods_by_name(cls, methods: Any) -> Any:
        return by_name(methods)

    @field_validator("methods")
    @classmethod
    def _methods_have_such_problems(cls, methods: dict[str, Method], info: ValidationInfo) -> dict[str, Method]:
        is_several = isinstance(_problem(info), SeveralProblem)
        for name, method in methods.items() if "problem" in info.data else ():
            if method.engine not in (OF_SEVERAL if is_several else OF_ONE):
                count = "several outcomes" if is_several else "one outcome"
                raise ValueError(f"method {name!r} must be for {count}, got the engine {method.engine!r}")
            if is_several and method.negligible_error:
                raise ValueError(f"method {name!r}: negligible_error must not be set with several outcomes")
            if info.data.get("old_studies"):
                check_method(name, method)
        return methods

    @field_validator("num_initial", mode="before")
    @classmethod
    def _default_num_initial(cls, num_initial: Any, info: ValidationInfo) -> Any:
        if num_initial is UNSAID:
            return 1 if (problem := _problem(info)) is None else _num_initial(problem.space)
        return num_initial

    def load_problem(self) -> Problem:
        """The problem itself."""
        return load_problem(self.problem, **self.problem_options)

    def build_corruption(self) -> Corruption | OutcomeCorruption:
        """The corruption itself; one of probability 0 where the spec has none."""
        corruption = self.corruption or CorruptionSpec(kind="constant", probability=0.0)
        return corruption.build(self.load_problem())

    @property
    def has_failures(self) -> bool:
        """True if its trials may fail."""
        return self.corruption is not None and self.corruption.kind == FAILURE

    @property
    def best(self) -> tuple[str, float] | None:
        """The problem's best value, and what it is; None where a region fails, in which it may lie."""
        corruption = self.build_corruption()
        has_region = isinstance(corruption, InjectedFailure) and corruption.inside is not None
        return None if has_region else self.load_problem().best

    def measure(
        self,
        corruption: Corruption | OutcomeCorruption,
        params: dict[str, Any],
        clean: Any,
        *,
        root: int,
        number: int,
        num_earlier: int = 0,
        last: Any = None,
    ) -> tuple[Any, Any]:
        """The value that a trial measures, and whether it is corrupted: a function of (seed, trial) and the point.

        Of "repeats" it is one of how often the point was asked for before, too, of "sticks" one of what the trial
        before measured, and of a worker's error one of the replication. There is no value where the trial fails. Of
        several outcomes these are the values by name, and the names of those that are wrong.

        Args:
            corruption: This spec's own, built once.
            params: The point.
            clean: Its true value.
            root: The replication's seed.
            number: The trial's.
            num_earlier: How many trials before it have the same point.
            last: What the trial before it measured; None of the first.
        """
        corruption_spec, right = self.corruption, self.right_value(clean, root, number)
        if corruption_spec is not None and corruption_spec.trials is not None and number not in corruption_spec.trials:
            return right, [] if isinstance(right, dict) else False
        if isinstance(corruption, Repeats):
            corruption = corruption.at(root, num_earlier)
        if isinstance(corruption, Sticks):
            corruption = corruption.after(last)
        if isinstance(corruption, WorkerError):
            corruption = corruption.at(root, number)
        value, wrong = corruption.apply(right, params, seeds.generator(root, number, "corruption"))
        is_missing = not value if isinstance(value, dict) else math.isnan(value)
        return None if is_missing else value, wrong

    def right_value(self, clean: Any, root: int, number: int) -> Any:
        """The value that a trial measures where nothing goes wrong with it: with noise, where there is some."""
        if self.noise is None:
            return clean
        generator = seeds.generator(root, number, "noise")
        return clean + noise(self.load_problem(), self.noise.share, self.noise.dof, generator)

    def source(self, corruption: Corruption | OutcomeCorruption, root: int, number: int) -> dict[str, str]:
        """The label of the worker that measures a trial; none where the corruption knows no workers."""
        return corruption.at(root, number).source if isinstance(corruption, WorkerError) else {}

    def cell(self, method: str) -> dict[str, Any]:
        """All that a replication of one method depends on; how many trials and replications there are is not in it."""
        settings = self.model_dump(mode="json", exclude={"title", "methods", "trials", "replications"})
        entries = in_old_names(self.methods[method].model_dump(mode="json"))  # of which cells have their hash
        return settings | {"method": method, **entries}


def _problem(info: ValidationInfo) -> Problem | None:
    """The problem, once it is known to be one and to take its options."""
    if not {"problem", "problem_options"} <= set(info.data):
        return None
    return load_problem(info.data["problem"], **info.data["problem_options"])
