"""A sampler of Optuna's whose decisions are those of `robustbo.Optimizer`."""

import logging
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from robustbo.errors import SpaceExhausted
from robustbo.loop.candidates.suggestion import Suggestion
from robustbo.loop.surrogate.cache import FitCache
from robustbo.optuna import notes
from robustbo.optuna.conditions import search_space
from robustbo.optuna.distributions import theirs
from robustbo.optuna.history import GatheredTrials, gather_trials, objective_names, space_of
from robustbo.optuna.independent import IndependentParameters
from robustbo.optuna.old_studies import SourceLike
from robustbo.optuna.study_settings import StudySettings
from robustbo.searchspace.space import Space
from robustbo.surrogates.names import SurrogateName
from robustbo.trials.former_names import reads_old_names
from robustbo.trials.settings import (
    DEFAULT_MAX_REPLICATES,
    DEFAULT_REPLICATE,
    Acquisition,
    Failures,
    Replicate,
)
from robustbo.validation import flag
from robustbo.view.view import View

log = logging.getLogger("robustbo")

TRIES = 3  # of a decision beside which other processes decide


@reads_old_names
class RobustSampler(StudySettings, BaseSampler):
    """Bayesian optimization that keeps working when some values are wrong, inside ``study.optimize``.

    It decides as `robustbo.Optimizer` does, from the study's storage: several threads and processes may work on one
    study, and a study that is loaded again continues with the same points. A trial may replicate an earlier trial whose
    value is in doubt. The sampler suggests the parameters of completed trials; if a parameter exists only sometimes,
    its existence is part of the point. The first trial's parameters are random. Values from another range than today's
    are modelled where they are. With several objectives (up to four), each has its own surrogate.

    Args:
        surrogate: As for `robustbo.Optimizer`, with all that follows.
        surrogate_options: Keyword options of the surrogate; JSON values.
        acquisition: Its name.
        num_initial: Number of space-filling trials at the beginning; by default 2 (d + 1), from 5 to 20.
        replicate: As for `robustbo.Optimizer`; "never" suits an objective that always gives the same value.
        max_replicates: Largest number of replicates of one point.
        quarantine: As for `robustbo.Optimizer`.
        failures: "learn" where trials fail (state FAIL, pruned without a report, or beyond a constraint of the study),
            and keep away from there; or "ignore" failures.
        seed: Root of all randomness; by default it is drawn, and kept in the study.
        negligible_error: What a value may be off without being wrong (`robustbo.Outcome`); of several objectives a
            list, in their order.
        deterministic_objective: Whether right values have no noise, so that the same parameters always give the same
            value.
        consider_pruned_trials: Whether the surrogate learns from pruned trials, by their last report and the typical
            change from there on. A pruned trial is never the best.
        sources: Old studies by name; the surrogate learns from them as far as they agree with this one. See `OldStudy`.
        independent_sampler: Sampler of all other parameters; random by default.
        warn_independent_sampling: Whether to log, once a parameter, that the independent sampler is used.

    Raises:
        ValueError, TypeError: If an argument breaks a rule; the message names the argument and the rule.

    Example:
        >>> import optuna
        >>> optuna.logging.set_verbosity(optuna.logging.ERROR)
        >>> study = optuna.create_study(sampler=RobustSampler(seed=0))
        >>> study.optimize(lambda trial: trial.suggest_float("x", -1, 1) ** 2, n_trials=8)
        >>> study.best_value < 0.01
        True
    """

    def __init__(
        self,
        *,
        surrogate: SurrogateName = "auto",
        surrogate_options: Mapping[str, Any] | None = None,
        acquisition: Acquisition = "auto",
        num_initial: int | None = None,
        replicate: Replicate = DEFAULT_REPLICATE,
        max_replicates: int = DEFAULT_MAX_REPLICATES,
        quarantine: bool = True,
        failures: Failures = "learn",
        seed: int | None = None,
        negligible_error: float | Sequence[float] = 0.0,
        deterministic_objective: bool = False,
        consider_pruned_trials: bool = True,
        sources: Mapping[str, SourceLike] | None = None,
        independent_sampler: BaseSampler | None = None,
        warn_independent_sampling: bool = True,
    ) -> None:
        options = {
            "surrogate": surrogate,
            "surrogate_options": surrogate_options,
            "acquisition": acquisition,
            "num_initial": num_initial,
            "replicate": replicate,
            "max_replicates": max_replicates,
            "quarantine": quarantine,
            "failures": failures,
        }
        self._take_options(options, seed, negligible_error, sources)
        self.deterministic_objective = flag("deterministic_objective", deterministic_objective)
        self.consider_pruned_trials = flag("consider_pruned_trials", consider_pruned_trials)
        warns = flag("warn_independent_sampling", warn_independent_sampling)
        self._independent = IndependentParameters(independent_sampler, warns)
        self.fits = FitCache()
        self._view: View | None = None
        self._turn = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key not in ("_turn", "_view")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._turn, self._view = threading.Lock(), None

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """The parameters that it asks for."""
        return search_space(study.get_trials(deepcopy=False))

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The next point.

        Raises:
            ValueError: If the study has more than four objectives.
        """
        if not search_space:
            return {}
        with self._turn:
            for _ in range(TRIES):
                trials = study.get_trials(deepcopy=False)
                if (space := space_of(search_space, trials)) is None:
                    return {}
                gathered = self.gather(study, space, search_space, trials, besides=trial.number)
                suggestion = self._decide(study, trial, gathered)
                repeats = None if suggestion.repeats is None else gathered.numbers[suggestion.repeats]
                notes.write(study, trial, suggestion, repeats)
                if not notes.is_overtaken(study, trial, trials):
                    break
        log.info("trial %d: %s", trial.number, suggestion.decision)
        of = gathered.distributions
        return {name: theirs(of[name], value) for name, value in suggestion.params.items() if name in of}

    def gather(
        self,
        study: Study,
        space: Space,
        searched: Mapping[str, BaseDistribution],
        trials: Sequence[FrozenTrial],
        besides: int | None = None,
    ) -> GatheredTrials:
        """Some trials of a study as it sees them; see `robustbo.optuna.history.gather_trials`."""
        return gather_trials(
            space,
            searched,
            trials,
            notes.user_notes(study),
            names=objective_names(len(study.directions), space),
            besides=besides,
            considers_pruned=self.consider_pruned_trials,
            is_exact=self.deterministic_objective,
            old=self._sources,
        )

    def view(self, study: Study, gathered: GatheredTrials) -> View:
        """A view of what is gathered of a study: the last one, if nothing has happened since."""
        settings, history = self.settings(study, gathered.space), gathered.history
        last = View(settings, history, self.fits) if self._view is None else self._view
        self._view = view = last.at(settings, history, gathered.stand_ins)
        return view

    def _decide(self, study: Study, trial: FrozenTrial, gathered: GatheredTrials) -> Suggestion:
        """The decision on a trial, some of whose values somebody may have fixed (`Study.enqueue_trial`)."""
        settings = self.settings(study, gathered.space)
        try:
            fixed = gathered.space.partial(gathered.point(trial.system_attrs.get("fixed_params", {})))
        except ValueError:  # beyond the range of today
            fixed = ()
        try:
            return View(settings, gathered.history, self.fits).suggest(trial.number, fixed)
        except SpaceExhausted:  # all are being measured, and Optuna must have one
            return View(settings, gathered.history_without_pending, self.fits).suggest(trial.number, fixed)

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """A value of a parameter that is not asked for with the others: of the trial it repeats, or a random one."""
        return self._independent.sample(study, trial, param_name, param_distribution, self._root)

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Hand over to the independent sampler."""
        if self._independent.sampler is not None:
            self._independent.sampler.before_trial(study, trial)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """Hand over to the independent sampler."""
        if self._independent.sampler is not None:
            self._independent.sampler.after_trial(study, trial, state, values)

    def reseed_rng(self) -> None:
        """Reseed the independent sampler alone: what is drawn follows from the seed and the trial's number."""
        if self._independent.sampler is not None:
            self._independent.sampler.reseed_rng()
