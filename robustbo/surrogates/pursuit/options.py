"""How a relevance pursuit searches: the options of `RelevancePursuitGP`, checked, and the search that they describe."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from robustbo.numerics.gp.log_posterior import Model
from robustbo.numerics.gp.map_fit import PARAMETERIZATIONS
from robustbo.numerics.pursuit import penalty as selection
from robustbo.numerics.pursuit import walk
from robustbo.numerics.pursuit.averaging import REACH
from robustbo.numerics.pursuit.penalty import Price, Rule
from robustbo.numerics.pursuit.support_fit import Level, Refit, empty, extended, refit, suspicious
from robustbo.validation import one_of, whole

LEVELS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)  # of n; more than half cannot be outliers of the rest
START_FTOL, WALK_FTOL, FINAL_FTOL = 1e-4, 1e-5, 1e-9  # relative tolerances of the beginning, the way and the end
NEIGHBOURS = 1  # levels on either side of a plausible one that a warm pursuit visits
CERTAIN = 1e-6  # probability that is as good as zero
MOST_SWEEPS = 100  # nothing higher has been found long before
DIRECTIONS = ("backward", "forward")
RULES = {"corrected": selection.corrected, "botorch": selection.botorch, "paper": selection.paper}


@dataclass(frozen=True)
class PursuitOptions:
    """The options of `RelevancePursuitGP` that concern the search; see there."""

    direction: str
    parameterization: str
    levels: tuple[float, ...]
    selection: str
    outlier_rate: float | None
    num_outliers: int | None
    sweeps: int

    def check(self) -> "PursuitOptions":
        """The options themselves; a ValueError names the first that breaks a rule."""
        for name, known in (("direction", DIRECTIONS), ("parameterization", PARAMETERIZATIONS), ("selection", RULES)):
            one_of(name, getattr(self, name), known)
        if not self.levels or min(self.levels) < 0:
            raise ValueError(f"levels must be fractions (float) or counts (int) of at least 0, got {self.levels!r}")
        whole("sweeps", self.sweeps, 1, MOST_SWEEPS)
        if self.outlier_rate is not None and not 0 < self.outlier_rate < 1:
            raise ValueError(f"outlier_rate must lie between 0 and 1, got {self.outlier_rate!r}")
        if self.num_outliers is not None:
            whole("num_outliers", self.num_outliers, 0)
        return self

    def known(self, n: int) -> int | None:
        """The known number of outliers, at most half of n observations; None where it is not known."""
        return None if self.num_outliers is None else min(self.num_outliers, n // 2)

    def sizes(self, n: int) -> list[int]:
        """The support sizes to visit, rising, each at most n."""
        counts = {min(level if isinstance(level, int) else int(level * n), n) for level in self.levels}
        return sorted(counts if (known := self.known(n)) is None else counts | {known})

    def rate(self, n: int) -> float:
        """The prior rate of outliers among n observations."""
        if (known := self.known(n)) is None:
            return selection.RATE if self.outlier_rate is None else self.outlier_rate
        return min(max(known / n, CERTAIN), 1 - CERTAIN)

    def price(self, model: Model) -> Price:
        """What a support must pay; by our own rule, a value that recurs pays in full but once."""
        is_ours = self.num_outliers is None and self.selection == "corrected"
        return Price(self.rule(len(model.y), len(model.bounds) + 1), model.alike if is_ours else ())

    def rule(self, n: int, p: int) -> Rule:
        """The price of a support by its size, for n observations and p hyperparameters, the mean included."""
        if (known := self.known(n)) is not None:
            return selection.exactly(known)
        if self.selection == "corrected":
            return (
                selection.corrected(n, p) if self.outlier_rate is None else selection.of_rate(n, p, self.outlier_rate)
            )
        return selection.botorch(n) if self.selection == "botorch" else selection.paper(n)

    def levels_after(self, model: Model, before: Sequence[Level], chosen: int) -> list[Level]:
        """The levels that an earlier pursuit of fewer observations makes worth a visit, swept both ways, by size.

        They are those that were plausible, since predictions are averaged over them, the chosen size or the known one,
        and those next to these.
        """
        known = self.known(len(model.y))
        chosen = chosen if known is None else known
        sizes = self._worth_a_visit(before, self.price(model), self.sizes(len(model.y)), chosen)
        climb = self._refit(model, WALK_FTOL)
        levels = walk.resume([extended(model, level) for level in before], sizes, climb)
        levels = walk.sweep(levels[::-1], sizes[::-1], climb)[::-1]
        return walk.sweep(levels, sizes, climb)

    @staticmethod
    def _worth_a_visit(before: Sequence[Level], price: Price, sizes: Sequence[int], chosen: int) -> list[int]:
        def nearest(count: int) -> int:
            return min(range(len(sizes)), key=lambda i: abs(sizes[i] - count))

        scores = [walk.score(level, price) for level in before]
        plausible = [level for level, score in zip(before, scores, strict=True) if score > max(scores) - REACH]
        middles = {nearest(count) for count in (chosen, *(len(level.support) for level in plausible))}
        return [sizes[i] for i in range(len(sizes)) if any(abs(i - middle) <= NEIGHBOURS for middle in middles)]

    def levels_of(self, model: Model) -> list[Level]:
        """The levels of the walk, by rising size."""
        climb = self._refit(model, WALK_FTOL)
        sizes = self.sizes(len(model.y))
        if self.direction == "forward":
            levels = walk.walk([empty(model, ftol=WALK_FTOL)], sizes, climb)
        else:
            starts = suspicious(model, range(len(model.y)), ftol=START_FTOL, parameterization=self.parameterization)
            levels = walk.walk(starts, sizes[::-1], climb)[::-1]
        for sweep in range(self.sweeps - 1):
            upward = (self.direction == "backward") == (sweep % 2 == 0)
            order = slice(None) if upward else slice(None, None, -1)
            if upward and sizes[0] == 0:
                levels[0] = max(levels[0], empty(model, ftol=WALK_FTOL), key=lambda level: level.fit.F)
            levels[order] = walk.sweep(levels[order], sizes[order], climb)
        return levels

    def best(self, model: Model, levels: Sequence[Level]) -> Level:
        """The level of the highest score, or one at which a recurring value is out, settled and climbed to the end."""
        price, climb = self.price(model), self._refit(model, WALK_FTOL)
        score = partial(walk.score, price=price)
        level = max(levels, key=score)
        options = {"parameterization": self.parameterization, "ftol": WALK_FTOL}
        tried = walk.of_recurring(model, price.alike, level, climb, **options)
        settled = walk.settle(max([level, *tried], key=score), price, climb)
        return self._refit(model, FINAL_FTOL)(settled, settled.support)

    def _refit(self, model: Model, ftol: float) -> Refit:
        return partial(refit, model, parameterization=self.parameterization, ftol=ftol)
