"""Settings of a run, fixed at its beginning: everything that a decision depends on besides the history."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from robustbo.searchspace.pool import Pool
from robustbo.searchspace.space import Space
from robustbo.trials.declared import Declared, Source, sources_by_name
from robustbo.trials.former_names import in_new_names, in_old_names
from robustbo.trials.newer import check_settings
from robustbo.trials.outcome import Outcome
from robustbo.trials.outcomes import (
    DIRECTIONS,
    Direction,
    OutcomeGoal,
    objectives_of,
    outcomes_of,
    quantities_of,
    reference_of,
)
from robustbo.trials.source_space import check_values, space_with_former_values
from robustbo.trials.sources import kinds_of
from robustbo.validation import flag, one_of, whole_number

Replicate = Literal["flagged", "any", "never"]
REPLICATES: tuple[str, ...] = get_args(Replicate)
Failures = Literal["learn", "ignore"]
FAILURES: tuple[str, ...] = get_args(Failures)
Acquisition = Literal["auto", "qLogNEI", "qLogEI", "LogEI", "sobol"]
ACQUISITIONS: tuple[str, ...] = get_args(Acquisition)
OF_THE_SPACE = ("space", "constraints", "pool")
DEFAULT_SURROGATE = "relevance-pursuit"
DEFAULT_MAX_REPLICATES = 2  # with the first value that is three, of which two may agree
DEFAULT_REPLICATE: Replicate = "flagged"  # by its figures: see the README, runs/figure-*


@dataclass(frozen=True)
class Settings:
    """The immutable part of an optimization; its JSON form is a journal's header.

    Attributes:
        space: The search space.
        direction: "minimize" or "maximize".
        surrogate: A registry name, or "module:Class" for a BoTorch model class.
        options: The surrogate's own options, as JSON text (hashable).
        acquisition: One of `ACQUISITIONS`; "sobol" never leaves the Sobol sequence.
        num_initial: How many Sobol points come first.
        replicate: Of which points a replicate may be asked for: one of `REPLICATES`; see
            `robustbo.loop.candidates.replicate`.
        max_replicates: Number of replicates that one point may get.
        quarantine: Whether a value that was not to be expected is left out for now; see
            `robustbo.loop.observations.probability_wrong`.
        failures: Whether it is learned where trials fail, so that asks stay away: one of `FAILURES`; see
            `robustbo.loop.feasibility.model`.
        seed: Root of all randomness.
        committee_from: Beyond so many told values a committee takes the surrogate's place; None never. The journals of
            "auto" said 2000 once.
        objectives: Names and directions of several outcomes that are to be optimized, or of one that is told by its
            name; empty in the short form, where a value is a mere number. The direction is that of the first then.
        outcome_constraints: Bounds that measured outcomes must keep, as texts; see `trials.outcomes`.
        reference_point: What counts as no good, by objective, where there are several; empty: by what is believed.
        outcome: Of what is measured name, unit and possible range, as far as they are said: of the only value, or of
            outcomes by their names.
        blocks: Kinds of source whose levels differ from each other as expected, such as plates or days.
        sources: Sources that are declared, by name: the target and others; see `trials.declared`.
        outcomes: The outcomes that follow from these: the objectives, then the others; none in the short form.
    """

    space: Space
    direction: Direction = "minimize"
    surrogate: str = DEFAULT_SURROGATE
    options: str = "{}"
    acquisition: Acquisition = "auto"
    num_initial: int = 5
    seed: int = 0
    replicate: Replicate = DEFAULT_REPLICATE
    max_replicates: int = DEFAULT_MAX_REPLICATES
    quarantine: bool = True
    failures: Failures = "learn"
    committee_from: int | None = None
    objectives: tuple[tuple[str, Direction], ...] = ()
    outcome_constraints: tuple[str, ...] = ()
    reference_point: tuple[tuple[str, float], ...] = ()
    outcome: tuple[Outcome, ...] = ()
    blocks: tuple[str, ...] = ()
    sources: Declared = ()
    outcomes: tuple[OutcomeGoal, ...] = field(init=False, repr=False, compare=False)
    sign: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._read_outcomes()
        one_of("direction", self.direction, DIRECTIONS)
        one_of("acquisition", self.acquisition, ACQUISITIONS)
        one_of("replicate", self.replicate, REPLICATES)
        one_of("failures", self.failures, FAILURES)
        object.__setattr__(self, "blocks", kinds_of(self.blocks))
        object.__setattr__(self, "sources", sources_by_name(self.sources))
        object.__setattr__(self, "space", space_with_former_values(self.space, self.sources))
        object.__setattr__(self, "quarantine", flag("quarantine", self.quarantine))
        for name, least in (("num_initial", 1), ("max_replicates", 1), ("seed", 0)):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), least))
        if self.committee_from is not None:
            object.__setattr__(self, "committee_from", whole_number("committee_from", self.committee_from, 1))
        object.__setattr__(self, "sign", 1.0 if self.direction == "maximize" else -1.0)

    def _read_outcomes(self) -> None:
        objectives = objectives_of(self.objectives)
        if isinstance(self.outcome_constraints, str) or not isinstance(self.outcome_constraints, Iterable):
            must = 'outcome_constraints must be a list of texts, such as ["cost <= 3"]'
            raise TypeError(f"{must}, got {self.outcome_constraints!r}; leave it out if there are none")
        if self.outcome_constraints and not objectives:
            raise ValueError('outcome_constraints need objectives, such as objectives={"yield": "maximize"}')
        quantities = quantities_of(self.outcome)
        if len(quantities) > 1 and not objectives:
            raise ValueError(
                f"outcome must be a single outcome if there are no objectives, got {[q.name for q in quantities]}"
            )
        outcomes, texts = outcomes_of(objectives, self.outcome_constraints, quantities if objectives else ())
        reference = reference_of(self.reference_point, objectives)
        fields: dict[str, Any] = {"objectives": objectives, "outcome_constraints": texts, "reference_point": reference}
        fields |= {"outcome": quantities, "outcomes": outcomes} | (
            {"direction": objectives[0][1]} if objectives else {}
        )
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def of(self, outcome: OutcomeGoal) -> "Settings":
        """The settings of one of several outcomes alone."""
        direction: Direction = "maximize" if outcome.sign > 0 else "minimize"
        negligible = outcome.quantity.negligible_error
        alone: dict[str, Any] = {"outcome": (Outcome(negligible_error=negligible),) if negligible else ()}
        return replace(self, objectives=(), outcome_constraints=(), reference_point=(), direction=direction, **alone)

    @property
    def quantity(self) -> Outcome:
        """Outcome that the only value is of, in the short form; name, unit and range as far as they are said."""
        return self.outcome[0] if self.outcome and not self.objectives else Outcome()

    @property
    def quantities(self) -> dict[str | None, Outcome]:
        """Outcomes that are measured: each of several by its name, or the only one under None."""
        return {outcome.name: outcome.quantity for outcome in self.outcomes} or {None: self.quantity}

    @property
    def goal(self) -> str:
        """Goal in words, such as "maximize yield, purity >= 0.95"; in the short form direction and name."""
        goals = [*(f"{way} {name}" for name, way in self.objectives), *self.outcome_constraints]
        return ", ".join(goals) or f"{self.direction} {self.quantity.name}".rstrip()

    @property
    def surrogate_options(self) -> dict[str, Any]:
        """The surrogate's own options."""
        return json.loads(self.options)

    def to_dict(self) -> dict[str, Any]:
        """The settings as journals have them: plain JSON values, by the names that older versions read."""
        return in_old_names(self.plain_values())

    def plain_values(self) -> dict[str, Any]:
        """The settings as plain JSON values, by the names that they have now."""
        return {
            "space": self.space.to_dict(),
            "direction": self.direction,
            "surrogate": self.surrogate,
            "surrogate_options": self.surrogate_options,
            "acquisition": self.acquisition,
            "num_initial": self.num_initial,
            "replicate": self.replicate,
            "max_replicates": self.max_replicates,
            "quarantine": self.quarantine,
            "failures": self.failures,
            "seed": self.seed,
        } | {key: value for key, value in self._later().items() if value is not None}

    def _later(self) -> dict[str, Any]:
        """Settings that journals have only where they are not None."""
        pool = self.space.to_pool() if isinstance(self.space, Pool) else None
        several = {
            "objectives": dict(self.objectives) or None,
            "outcome_constraints": list(self.outcome_constraints) or None,
            "reference_point": dict(self.reference_point) or None,
            "outcome": [quantity.to_dict() for quantity in self.outcome] or None,
            "blocks": list(self.blocks) or None,
            "sources": {name: source.to_dict() for name, source in self.sources} or None,
        }
        constraints = self.space.texts or None
        return {"committee_from": self.committee_from, "constraints": constraints, "pool": pool} | several

    def of_size(self, count: int) -> "Settings":
        """The settings with so many told values: with a committee where these are too many for the surrogate."""
        if self.committee_from is None or count <= self.committee_from:
            return self
        return replace(self, surrogate="committee", options="{}", committee_from=None)

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> "Settings":
        """The settings from their `to_dict` form; from before there were doubts or a model of failures it has none."""
        rest: dict[str, Any] = {"replicate": "never", "quarantine": False, "failures": "ignore"} | {
            key: value
            for key, value in in_new_names(entries).items()
            if key not in (*OF_THE_SPACE, "surrogate_options")
        }
        space, pool = Space.from_dict(entries["space"], entries.get("constraints", ())), entries.get("pool")
        space = space if pool is None else Pool.from_pool(entries["space"], pool, space.texts)
        for name in ("objectives", "outcome_constraints", "reference_point"):
            rest[name] = tuple(rest.get(name, {}).items() if name != "outcome_constraints" else rest.get(name, ()))
        rest["blocks"] = tuple(rest.get("blocks", ()))
        rest["sources"] = {name: Source(**entry) for name, entry in rest.get("sources", {}).items()}
        rest["outcome"] = tuple(map(Outcome.from_dict, rest.get("outcome", ())))
        check_settings(rest, cls.__dataclass_fields__)
        settings = cls(space=space, options=options_text(entries["surrogate_options"]), **rest)
        check_values(settings.space, settings.sources)
        return settings


def options_text(options: Mapping[str, Any] | None) -> str:
    """A surrogate's options as canonical JSON text.

    Raises:
        TypeError: If an option is not a JSON value, since the journal has to keep it.
    """
    try:
        return json.dumps(dict(options or {}), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise TypeError(f"surrogate_options must be JSON values, got {options!r}: {error}") from None
