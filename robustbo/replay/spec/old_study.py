"""Old studies that methods are told before their first trial: values of another source."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from robustbo import seeds
from robustbo.replay.spec.corruption import NoiseSpec
from robustbo.replay.spec.method import Method, Strict
from robustbo.surrogates.registry import name_of
from robustbo.tasks.noise import noise
from robustbo.tasks.old_study import OldStudy, Relation
from robustbo.tasks.problem import Problem
from robustbo.tasks.problem import load as load_problem
from robustbo.trials.declared import Declared, Source, sources_by_name
from robustbo.trials.settings import DEFAULT_SURROGATE

TARGET = "target"  # the name of what is optimized, beside old studies


class OldStudySpec(Strict):
    """An old study, a source that is not asked; `robustbo.tasks.old_study` says what it reads.

    Attributes:
        relation: "identical", "offset", "scaled", "biased" (by a smooth function) or "unrelated".
        size: Of an offset or a bias, in spreads of the problem's values; of a scale the factor.
        values: How many it has.
        wrong: The probability that one of them is wrong by itself.
        problem: Whose values it reads, where that is a cheaper one with the same parameters.
    """

    relation: Relation = "identical"
    size: float = Field(default=1.0, allow_inf_nan=False)
    values: int = Field(default=40, ge=1, le=1000)
    wrong: float = Field(default=0.0, ge=0, le=1)
    problem: str | None = None

    def build(self, problem: Problem) -> OldStudy:
        """The study itself."""
        of = problem if self.problem is None else load_problem(self.problem)
        return OldStudy(problem, of, self.relation, self.size, self.values, self.wrong)


def sources_of_method(old_studies: Mapping[str, OldStudySpec]) -> Declared:
    """The sources of a method that is told of old studies; none without any.

    Raises:
        ValueError: If a name cannot be a source's, or there are too many.
    """
    if TARGET in old_studies:
        raise ValueError(f"an old study must have another name than what is optimized, got {TARGET!r}")
    beside = {name: Source(ask=False) for name in old_studies}
    return sources_by_name({TARGET: Source(target=True), **beside} if beside else {})


def check_method(name: str, method: Method) -> None:
    """Raise a ValueError unless a method can be told of old studies, or they are hidden from it."""
    why = {
        "engine": None if method.engine == "robustbo" else method.engine,
        "surrogate": None if name_of(method.surrogate) == DEFAULT_SURROGATE else method.surrogate,
        "acquisition": None if method.acquisition in ("auto", "sobol") else method.acquisition,
    }
    wrong = {key: value for key, value in why.items() if value is not None}
    if method.sources == "told" and wrong:
        raise ValueError(
            f'method {name!r} must have sources = "hidden" beside old studies, got {wrong}: only '
            f"{DEFAULT_SURROGATE!r} of robustbo's own loop learns from them"
        )


def old_measurements(
    old_studies: Mapping[str, OldStudySpec], problem: Problem, noise_spec: NoiseSpec | None, root: int
) -> list[tuple[str, dict[str, Any], float]]:
    """Measurements of the old studies, in order: the source's name, the point and the value, with noise."""
    rows = list[tuple[str, dict[str, Any], float]]()
    for name, study in old_studies.items():
        purpose = f"old study {name}"
        for i, (point, value) in enumerate(study.build(problem).measurements(root, purpose)):
            draws = seeds.generator(root, i, f"{purpose}: noise")
            error = 0.0 if noise_spec is None else noise(problem, noise_spec.share, noise_spec.dof, draws)
            rows.append((name, point, value + error))
    return rows
