"""The settings of a study of Optuna's: what a sampler was told, and the study's directions and seed."""

from collections.abc import Mapping, Sequence
from typing import Any

from optuna.study import Study, StudyDirection

from robustbo.optuna import notes
from robustbo.optuna.history import objective_names
from robustbo.optuna.old_studies import SourceLike, StudySources
from robustbo.searchspace.parameters import Float
from robustbo.searchspace.space import Space
from robustbo.study.beginning import settings_of
from robustbo.study.declared import check_settings_for_sources
from robustbo.trials.outcome import Outcome
from robustbo.trials.settings import Direction, Settings
from robustbo.validation import whole_number


class StudySettings:
    """The part of a sampler that says by which settings it decides."""

    _options: dict[str, Any]
    _seed: int | None
    _negligible: tuple[float, ...]
    _sources: StudySources

    def _take_options(
        self,
        options: dict[str, Any],
        seed: int | None,
        negligible_error: float | Sequence[float],
        sources: Mapping[str, SourceLike] | None,
    ) -> None:
        """Take what was told.

        Raises:
            ValueError, TypeError: If an argument breaks a rule.
        """
        self._seed = None if seed is None else whole_number("seed", seed, 0)
        self._options, self._sources = options, StudySources(sources)
        first = settings_of(Space(x=Float(0, 1)), sources=self._sources.declared, **self._options)
        check_settings_for_sources(first)  # raises, as the other, where an argument breaks its rule
        errors = negligible_error if isinstance(negligible_error, Sequence) else [negligible_error]
        self._negligible = tuple(Outcome(negligible_error=error).negligible_error for error in errors)

    def settings(self, study: Study, space: Space) -> Settings:
        """Settings of a decision: all that it depends on besides the trials."""
        ways: list[Direction] = [
            "minimize" if way == StudyDirection.MINIMIZE else "maximize" for way in study.directions
        ]
        names = objective_names(len(ways), space) if len(ways) > 1 else ("",)
        options = self._options | {"seed": self._root(study), "outcome": self._outcomes(names)}
        options |= {"sources": self._sources.declared}
        if len(ways) == 1:
            return settings_of(space, ways[0], **options)
        return settings_of(space, objectives=tuple(zip(names, ways, strict=True)), **options)

    def _outcomes(self, names: Sequence[str]) -> tuple[Outcome, ...]:
        """Outcomes of which there is more to say than the direction: what they may be off."""
        errors = self._negligible
        if len(errors) != len(names) and any(errors):
            objectives = f"{len(names)} objective{'s' if len(names) > 1 else ''}"
            raise ValueError(f"negligible_error must be a number for each of {objectives}, got {list(errors)}")
        return tuple(Outcome(n, negligible_error=e) for n, e in zip(names, errors, strict=False) if e)

    def _root(self, study: Study) -> int:
        return notes.seed_of(study) if self._seed is None else self._seed
