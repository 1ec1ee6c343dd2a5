"""Errors of the values of a run: what goes wrong with some, and the noise that all have."""

from typing import Annotated

from pydantic import ConfigDict, Field

from robustbo.replay.spec.method import Frozen, Strict
from robustbo.tasks.corruption import Corruption, build
from robustbo.tasks.problem import Problem
from robustbo.tasks.several import ALL, OutcomeCorruption, SeveralProblem, build_outcome_corruption


class CorruptionSpec(Frozen):
    """A corruption's kind, probability and options; `robustbo.tasks.corruption.build` checks them.

    Attributes:
        probability: None where it is not said, which a "failure" in a region alone may leave so.
        trials: Those that may be hit; all by default.
        strikes: Of several outcomes the one that is hit, or "all" (the default).
    """

    model_config = ConfigDict(extra="allow")
    later = frozenset({"probability", "trials", "strikes"})
    kind: str
    probability: float | None = Field(default=None, ge=0, le=1)
    trials: list[Annotated[int, Field(ge=0)]] | None = Field(default=None, min_length=1)
    strikes: str | None = None

    def build(self, problem: Problem) -> Corruption | OutcomeCorruption:
        """The corruption itself."""
        options = self.model_dump()  # what is not said is not in it
        options.pop("trials", None)
        hit = options.pop("strikes", None)
        if isinstance(problem, SeveralProblem):
            return build_outcome_corruption(problem, options.pop("kind"), ALL if hit is None else hit, **options)
        if hit is not None:
            raise ValueError(f"strikes needs a problem of several outcomes, {problem.name} has one")
        return build(options.pop("kind"), problem, **options)


class NoiseSpec(Strict):
    """The error that every measurement has, which makes none of them wrong.

    Attributes:
        share: Its scale, as a share of the spread of the problem's values.
        dof: Degrees of freedom of a Student-t distribution; Gaussian by default.
    """

    later = frozenset({"dof"})
    share: float = Field(gt=0)
    dof: float | None = Field(default=None, gt=0)
