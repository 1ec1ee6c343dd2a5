"""Sources of a study's values: old studies that are learned from, and labels that its own trials may have.

A study of last year's, on other hardware or of a smaller data set, is learned from as far as its values say something
of this one's; see `robustbo.Source`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

from optuna.distributions import BaseDistribution
from optuna.study import Study
from optuna.trial import FrozenTrial

from robustbo.errors import NumericsWarning, warn
from robustbo.optuna import notes
from robustbo.optuna.content import content
from robustbo.optuna.distributions import measured_value
from robustbo.searchspace.parameters import Value
from robustbo.trials.declared import Declared, Source, sources_by_name
from robustbo.trials.sources import DEFAULT_KIND
from robustbo.validation import short_list

THIS_STUDY = "this study"


@dataclass(frozen=True)
class OldStudy:
    """An old study as a source, in its state when the sampler is made.

    Attributes:
        study: It, or a list of its trials.
        was: Values that parameters of the new study had in it, where it did not have them.
        trusted: Whether it is known to measure the same, except for noise.
    """

    study: Study | Sequence[FrozenTrial]
    was: Mapping[str, Any] = field(default_factory=dict)
    trusted: bool = False

    @property
    def source(self) -> Source:
        """The source that it is."""
        return Source(ask=False, trusted=self.trusted)


SourceLike: TypeAlias = OldStudy | Study | Sequence[FrozenTrial] | Source


class OldTrial(NamedTuple):
    """A trial of an old study: its number there, its point in the new one, and what became of it."""

    number: int
    params: dict[str, Value]
    content: dict[str, Any]


class StudySources:
    """The sources of a study: its own trials are the target's, unless their user attribute names another.

    Args:
        sources: By name an old study, or a `robustbo.Source` that trials of this study may be of. Of one that has a
            level (`robustbo.fidelity_levels`) are the values that trials report at that step.

    Raises:
        TypeError, ValueError: If one is neither, or the name is taken.
    """

    def __init__(self, sources: Mapping[str, SourceLike] | None) -> None:
        by_name = {name: _read(name, source) for name, source in (sources or {}).items()}
        declared = {name: of.source if isinstance(of, OldStudy) else of for name, of in by_name.items()}
        is_named = any(source.target for source in declared.values())
        own = {} if is_named or not declared else {THIS_STUDY: Source(target=True)}
        self.declared: Declared = sources_by_name(own | declared)
        self._steps = {name: int(of.level) for name, of in self.declared if of.level is not None and not of.target}
        old = {name: of for name, of in by_name.items() if isinstance(of, OldStudy)}
        self._trials = {name: _trials_of(of.study) for name, of in old.items()}
        studies = {name: of.study for name, of in old.items() if isinstance(of.study, Study)}
        self._words = {name: notes.user_notes(study) for name, study in studies.items()}
        self._was = {name: dict(of.was) for name, of in old.items()}

    def trials(self, gathered: Any, names: Sequence[str]) -> list[OldTrial]:
        """The trials of old studies that have ended; those that have no place are left out, with a warning.

        Args:
            gathered: The new study, whose points they are.
            names: Of several objectives; none where there is one.
        """
        return [row for name, trials in self._trials.items() for row in self._rows(name, trials, gathered, names)]

    @property
    def has_levels(self) -> bool:
        """Return whether values that trials report are those of sources."""
        return bool(self._steps)

    def report_trials(self, trial: FrozenTrial, params: dict[str, Value]) -> list[OldTrial]:
        """The values that a trial has reported at the steps of levels, as trials of these sources."""
        values = {name: trial.intermediate_values.get(step, math.nan) for name, step in self._steps.items()}
        return [
            OldTrial(trial.number, params, {"state": "told", "value": value, "sources": {DEFAULT_KIND: name}})
            for name, value in values.items()
            if math.isfinite(value)
        ]

    def _rows(self, name: str, trials: Sequence[FrozenTrial], gathered: Any, names: Sequence[str]) -> list[OldTrial]:
        decided, words = _values(gathered.distributions, self._was[name]), self._words.get(name, {})
        rows, errors = list[OldTrial](), list[str]()
        for trial in trials:
            became = content(trial, {}, words.get(trial.number, {}), names, stand_in=None, is_exact=False)
            if became["state"] not in ("told", "failed"):
                continue
            try:
                params = gathered.measured_point(trial, decided)
            except (KeyError, ValueError) as error:
                errors.append(str(error))
                continue
            became |= {"sources": {DEFAULT_KIND: name}, "origin": "user"}
            rows.append(OldTrial(trial.number, params, became))
        if errors:
            missing = [n for n in gathered.distributions if n not in decided and not any(n in t.params for t in trials)]
            advice = f"; say what was: OldStudy(study, was={{{missing[0]!r}: ...}})" if missing else ""
            why = f"have no place in this one: {errors[0]}{advice}"
            warn(f"{len(errors)} of {len(trials)} trials of {name!r} {why}", NumericsWarning)
        return rows


def _values(distributions: Mapping[str, BaseDistribution], was: Mapping[str, Any]) -> dict[str, Value]:
    return {name: measured_value(of, was[name]) for name, of in distributions.items() if name in was}


def _read(name: str, source: SourceLike) -> OldStudy | Source:
    if name == THIS_STUDY:
        raise ValueError(f"sources must have other names than {THIS_STUDY!r}, which is the target, got {name!r}")
    if isinstance(source, Source):
        if source.target and source.level is None:
            raise ValueError(f"the study itself is the target, got the source {name!r} with target=True; leave it out")
        if source.level is not None and not source.level.is_integer():
            raise ValueError(f"level of source {name!r} must be a step that trials report at, got {source.level}")
        if source.ask and source.level is None:
            why = "an objective of Optuna's is not told whom to ask; robustbo.Optimizer and robustbo.ax ask others, too"
            raise ValueError(f"a source beside the study must have ask=False, got {name!r}: {source}; {why}")
        return source if source.target else replace(source, ask=False)  # what trials report at a level costs nothing
    old = source if isinstance(source, OldStudy) else OldStudy(source)
    trials = old.study
    if not isinstance(trials, Study) and not (
        isinstance(trials, Sequence) and all(isinstance(trial, FrozenTrial) for trial in trials)
    ):
        must = "sources must be old studies (optuna.load_study), lists of trials, or robustbo.Source"
        raise TypeError(f"{must}, got {short_list([source])} for {name!r}")
    return old


def _trials_of(study: Study | Sequence[FrozenTrial]) -> tuple[FrozenTrial, ...]:
    return tuple(study.get_trials(deepcopy=False) if isinstance(study, Study) else study)
