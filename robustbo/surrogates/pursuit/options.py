"""The options of `RelevancePursuitGP`, checked, and the plan of the search that they make."""

from dataclasses import dataclass

from robustbo.numerics.gp.model import Model
from robustbo.numerics.pursuit import penalty as selection
from robustbo.numerics.pursuit.penalty import Penalty, Rule
from robustbo.numerics.pursuit.search import PursuitPlan
from robustbo.surrogates.common.capabilities import Capabilities
from robustbo.surrogates.common.warped_gp import WarpOptions
from robustbo.validation import one_of, whole_number

LEVELS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)  # of n; more than half cannot be outliers of the rest
CERTAIN = 1e-6  # probability that is as good as zero
DIRECTIONS = ("backward", "forward")
RULES = {"corrected": selection.corrected_rule, "botorch": selection.botorch, "paper": selection.paper}


@dataclass(frozen=True, kw_only=True)
class PursuitOptions(WarpOptions):
    """The options of `RelevancePursuitGP`; see there."""

    direction: str = DIRECTIONS[0]
    levels: tuple[float, ...] = LEVELS
    selection: str = "corrected"
    outlier_rate: float | None = None
    num_outliers: int | None = None
    is_averaged: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(self.levels))  # a journal has a list
        super().__post_init__()

    def check(self) -> None:
        """Raise a ValueError that names the first option that breaks a rule."""
        super().check()
        one_of("direction", self.direction, DIRECTIONS)
        one_of("selection", self.selection, RULES)
        if not self.levels or min(self.levels) < 0:
            raise ValueError(f"levels must be fractions (float) or counts (int) of at least 0, got {self.levels!r}")
        if self.outlier_rate is not None and not 0 < self.outlier_rate < 1:
            raise ValueError(f"outlier_rate must lie between 0 and 1, got {self.outlier_rate!r}")
        if self.num_outliers is not None:
            whole_number("num_outliers", self.num_outliers, 0)

    @property
    def capabilities(self) -> Capabilities:
        """Robust unless the number of outliers is set to 0; a number that is set holds for all data together."""
        is_robust = self.num_outliers != 0
        is_cubic = not self.num_outliers
        return Capabilities(
            is_robust,
            is_heeded=is_robust,
            is_cubic=is_cubic,
            has_predictive=is_robust,
            continues=True,
            mixes_noise=True,
        )

    def fixed_size(self, n: int) -> int | None:
        """The known number of outliers, at most half of n observations; None where it is not known."""
        return None if self.num_outliers is None else min(self.num_outliers, n // 2)

    def sizes(self, n: int) -> list[int]:
        """The support sizes to visit, rising, each at most n."""
        counts = {min(level if isinstance(level, int) else int(level * n), n) for level in self.levels}
        return sorted(counts if (fixed := self.fixed_size(n)) is None else counts | {fixed})

    def rate(self, n: int) -> float:
        """The prior rate of outliers among n observations."""
        if (fixed := self.fixed_size(n)) is None:
            return super().rate(n) if self.outlier_rate is None else self.outlier_rate
        return min(max(fixed / n, CERTAIN), 1 - CERTAIN)

    def penalty(self, model: Model) -> Penalty:
        """The penalty of supports."""
        return Penalty(self.rule(model.groups.count(len(model.y)), model.num_free), model.groups)

    @property
    def is_grouped(self) -> bool:
        """Return whether a value that recurs is one outlier or a plateau; not so by other rules or a known number."""
        return self.num_outliers is None and self.selection == "corrected"

    def rule(self, n: int, p: int) -> Rule:
        """The penalty of a support by its size, for n observations and p hyperparameters, the mean included."""
        if (fixed := self.fixed_size(n)) is not None:
            return selection.exactly(fixed)
        if self.selection == "corrected":
            return (
                selection.corrected_rule(n, p)
                if self.outlier_rate is None
                else selection.of_rate(n, p, self.outlier_rate)
            )
        return selection.botorch(n) if self.selection == "botorch" else selection.paper(n)

    def plan(self, model: Model) -> PursuitPlan:
        """The plan of a pursuit of some observations' support."""
        n, is_backward = model.groups.count(len(model.y)), self.direction == "backward"
        penalty, fixed = self.penalty(model), self.fixed_size(n)
        return PursuitPlan(self.sizes(n), penalty, is_backward, fixed_size=fixed)
