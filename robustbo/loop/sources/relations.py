"""Reports on the sources that a study was begun with: what each says of the target's objective; each is a sentence."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from robustbo.determinism.surroundings import pin_surroundings
from robustbo.errors import FitError
from robustbo.loop.belief.outcome_models import OutcomeModel, OutcomeModels, unmeasured_outcomes, use_models
from robustbo.loop.observations.auxiliary import AuxiliaryTrials
from robustbo.loop.observations.table import observations
from robustbo.loop.sources.source_report import digits
from robustbo.loop.surrogate.cache import FitCache
from robustbo.numerics.transfer.relations import Relation
from robustbo.numerics.transfer.summary import SourceRelation
from robustbo.trials.history import History
from robustbo.trials.outcome import Outcome
from robustbo.trials.settings import Settings

NOTHING: SourceRelation = SourceRelation("unrelated", {}, *(math.nan,) * 8, ())


@dataclass(frozen=True)
class RelationReport:
    """A report on a source beside the target, in the user's units: it reads rho f(x) + b + delta(x).

    Attributes:
        source: Its name.
        relation: The likeliest: "same", "offset", "scaled", "biased" or "unrelated"; "" if the source or the target
            has no value yet.
        probabilities: Of each relation.
        b, b_sd: How much higher it reads than rho f, on average; NaN where it is unrelated.
        rho, rho_sd: The factor; 1 where it is not free.
        omega, omega_sd: Standard deviation of its bias, which is a function of the parameters; 0 where it has none.
        evidence: Evidence, in nats, that the source is informative about the target.
        cost: What its values have cost so far.
        trials: The trials whose values count.
        wrong: The trials among these with single wrong values.
        outcome: Which of several outcomes; None where there is only one.
        quantity: What is measured, with its unit.

    Example:
        >>> shares = {"offset": 0.93, "same": 0.07}
        >>> source = ("2025", "offset", shares, 0.42, 0.1, 1.0, 0.0, 0.0, 0.0, 12.0, 80.0, (0, 1), ())
        >>> print(RelationReport(*source).text)
        2025 reads 0.4 +- 0.1 higher, otherwise the same; probability 0.93
    """

    source: str
    relation: str
    probabilities: Mapping[Relation, float]
    b: float
    b_sd: float
    rho: float
    rho_sd: float
    omega: float
    omega_sd: float
    evidence: float
    cost: float
    trials: tuple[int, ...]
    wrong: tuple[int, ...]
    outcome: str | None = None
    quantity: Outcome = field(default=Outcome(), repr=False)

    @property
    def text(self) -> str:
        """The report as a sentence."""
        of = f"{self.quantity.name or self.outcome}: " if self.outcome else ""
        if not self.relation:
            return f"{of}{self.source}: nothing is known yet"
        chance = f"; probability {self.probabilities.get(self.relation, 1.0):.2f}"  # type: ignore[call-overload]
        if self.relation == "unrelated":
            return f"{of}{self.source} is of no use here: its values say nothing of the target{chance}"
        verb = "is" if len(self.wrong) == 1 else "are"
        wrong = f"; {len(self.wrong)} of its {len(self.trials)} values {verb} wrong" if self.wrong else ""
        return f"{of}{self.source} {self._claim}{chance}{wrong}"

    @property
    def _claim(self) -> str:
        size = self.quantity.with_unit(f"{digits(abs(self.b), self.b_sd)} +- {self.b_sd:.1g}")
        higher = f"reads {size} {'higher' if self.b >= 0 else 'lower'}"
        factor = f"{digits(self.rho, self.rho_sd)} +- {self.rho_sd:.1g} times the target"
        shift = f"{'plus' if self.b >= 0 else 'minus'} {size}"
        match self.relation:
            case "same":
                return "measures the same as the target"
            case "offset":
                return f"{higher}, otherwise the same"
            case "scaled":
                return f"reads {factor}, {shift}"
        bias = self.quantity.with_unit(f"{digits(self.omega, self.omega_sd)}")
        if not self.rho_sd:
            return f"{higher}, with a bias of sd {bias} that is a function of the parameters"
        return f"reads {factor}, {shift}, with a bias of sd {bias} that is a function of the parameters"


@pin_surroundings
def relations(settings: Settings, history: History, fits: FitCache | None = None) -> list[RelationReport]:
    """A report on every source beside the target, in the order of the declaration; of several outcomes on each.

    Raises:
        FitError: If no surrogate can be fitted.
    """
    if not settings.sources:
        return []
    data, fits = observations(settings, history), FitCache() if fits is None else fits
    if not data.told or unmeasured_outcomes(settings, data.trials):
        quantities = settings.quantities.items()
        by_name = {name: data.auxiliary if name is None else data.auxiliary.of(name) for name, _ in quantities}
        return [report for name, of in quantities for report in _reports_on(by_name[name], {}, name, of)]
    reports, reason = use_models(settings, data, partial(_reports, settings), fits, is_judging=True)
    if reports is None:
        raise FitError(f"no surrogate could learn from the sources {reason}")
    return reports


def _reports(settings: Settings, models: OutcomeModels) -> list[RelationReport]:
    quantities = settings.quantities
    return [report for model in models for report in _reports_of(model, quantities[model.name])]


def _reports_of(model: OutcomeModel, quantity: Outcome) -> list[RelationReport]:
    beside = model.fitted.with_sources.observations.beside
    relations_by_name = model.fitted.relations
    numbers = () if beside is None else beside.numbers
    wrong = {name: tuple(numbers[row] for row in of.wrong) for name, of in relations_by_name.items()}
    return _reports_on(model.data.auxiliary, relations_by_name, model.name, quantity, wrong)


def _reports_on(
    auxiliary: AuxiliaryTrials,
    by_name: Mapping[str, SourceRelation],
    outcome: str | None,
    quantity: Outcome,
    wrong: Mapping[str, tuple[int, ...]] | None = None,
) -> list[RelationReport]:
    reports = []
    for name, _ in auxiliary.sources:
        numbers, of = tuple(t.number for t in auxiliary.told(name)), by_name.get(name, NOTHING)
        sizes = of.offset, of.offset_sd, of.scale, of.scale_sd, of.bias, of.bias_sd, of.evidence
        relation, own_wrong = of.relation if name in by_name else "", (wrong or {}).get(name, ())
        reports.append(
            RelationReport(
                name,
                relation,
                of.probabilities,
                *sizes,
                auxiliary.spent(name),
                numbers,
                own_wrong,
                outcome,
                quantity,
            )
        )
    return reports
