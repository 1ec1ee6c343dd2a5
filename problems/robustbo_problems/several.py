"""Problems of several outcomes, BoTorch's own test functions: several objectives, or one under measured constraints.

All are minimized. A constraint is measured as a slack, which must not be negative: BoTorch's ``evaluate_slack``. The
largest hypervolumes of two objectives and the best feasible values are those that
`benchmarks/quality/several_best.py` finds, which are all better than BoTorch's; the worst feasible values are
BoTorch's.

References:
    Tanabe and Ishibuchi (2020), An easy-to-use real-world multi-objective optimization problem suite (vehicle safety);
    Deb and others (2002), Scalable multi-objective optimization test problems; Belakaria and others (2019) (Branin and
    Currin); Coello and Montes (2002), Constraint-handling in genetic algorithms through the use of dominance-based
    tournament selection (vessel, beam); Gardner and others (2014), Bayesian optimization with inequality constraints.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from botorch.test_functions.base import BaseTestProblem
from botorch.test_functions.multi_objective import C2DTLZ2, DTLZ2, BraninCurrin, VehicleSafety
from botorch.test_functions.synthetic import PressureVessel, WeldedBeamSO

from robustbo.searchspace.parameters import Float
from robustbo.searchspace.space import Space
from robustbo.tasks.several import SeveralProblem
from robustbo.validation import whole_number

BOTORCH = "as BoTorch's {}"


def values_of(function: BaseTestProblem, objectives: Sequence[str], slacks: Sequence[str], params: Mapping) -> dict:
    """All outcomes of one of BoTorch's functions at a point.

    Args:
        function: One that is minimized.
        objectives: Their names.
        slacks: Those of the slacks of its constraints.
        params: The point, in the function's order.
    """
    X = torch.tensor([list(params.values())], dtype=torch.float64)
    values = function.evaluate_true(X).reshape(-1).tolist()
    if slacks:
        values += function.evaluate_slack_true(X).reshape(-1).tolist()
    return dict(zip([*objectives, *slacks], values, strict=True))


def keeps_all(slacks: Sequence[str], values: Mapping[str, float]) -> bool:
    """Return whether no slack is negative."""
    return all(values[name] >= 0 for name in slacks)


def _build_problem(
    name: str,
    space: Space,
    outcomes: Callable[[Mapping[str, Any]], dict[str, float]],
    objectives: Sequence[str],
    slacks: Sequence[str] = (),
    **rest: Any,
) -> SeveralProblem:
    return SeveralProblem(
        name=name,
        space=space,
        direction="minimize",
        objective=partial(_first, outcomes),
        outcomes=outcomes,
        objectives=dict.fromkeys(objectives, "minimize"),
        outcome_constraints=tuple(f"{slack} >= 0" for slack in slacks),
        keeps=partial(keeps_all, tuple(slacks)),
        cost_s=1e-4,
        **rest,
    )


def _first(outcomes: Callable[[Mapping[str, Any]], dict[str, float]], params: Mapping[str, Any]) -> float:
    return next(iter(outcomes(params).values()))


def _of_botorch(
    name: str, function: BaseTestProblem, objectives: Sequence[str], slacks: Sequence[str] = (), **rest: Any
) -> SeveralProblem:
    """One of BoTorch's functions; of several objectives with its reference point."""
    bounds = function.bounds.T.tolist()
    space = Space(**{f"x{i}": Float(low, high) for i, (low, high) in enumerate(bounds, start=1)})
    if len(objectives) > 1:
        rest["reference_point"] = dict(zip(objectives, function.ref_point.tolist(), strict=True))
    rest["reference"] = BOTORCH.format(type(function).__name__)
    return _build_problem(name, space, partial(values_of, function, objectives, slacks), objectives, slacks, **rest)


branin_currin = _of_botorch("branin-currin", BraninCurrin(), ["branin", "currin"], hypervolume=59.404906400350654)

vehicle_safety = _of_botorch(
    "vehicle-safety", VehicleSafety(), ["mass", "acceleration", "intrusion"], hypervolume=246.81607081187002
)


def dtlz2(d: int = 6, num_objectives: int = 2) -> SeveralProblem:
    """DTLZ2 of d inputs: the front is the unit sphere's part where all objectives are positive.

    Raises:
        ValueError: If there are not 2 to 4 objectives, and more inputs than these.
    """
    if whole_number("num_objectives", num_objectives, 2) > 4 or whole_number("d", d, 2) <= num_objectives:
        raise ValueError(f"d must exceed num_objectives, which must be 2 to 4, got {d!r} and {num_objectives!r}")
    function = DTLZ2(dim=d, num_objectives=num_objectives)
    names = [f"f{i}" for i in range(1, num_objectives + 1)]
    return _of_botorch("dtlz2", function, names, hypervolume=float(function._max_hv))


def c2_dtlz2(d: int = 4) -> SeveralProblem:
    """C2-DTLZ2 of d inputs: DTLZ2 of two objectives, whose front is feasible at its ends and in its middle alone.

    Raises:
        ValueError: If d is less than 3.
    """
    function = C2DTLZ2(dim=whole_number("d", d, 3), num_objectives=2)
    return _of_botorch("c2-dtlz2", function, ["f1", "f2"], ["slack"], hypervolume=0.4000539168500775)


pressure_vessel = _of_botorch(
    "pressure-vessel",
    PressureVessel(),
    ["cost"],
    ["shell", "head", "volume", "length"],
    optimum=5633.950241007438,
    optimizer={"x1": 0.78125, "x2": 0.40625, "x3": 40.4792746, "x4": 197.78935},
    worst=240526.7248,
)

welded_beam = _of_botorch(
    "welded-beam",
    WeldedBeamSO(),
    ["cost"],
    ["shear", "bending", "weld", "material", "deflection", "buckling"],
    optimum=1.5870774626462965,
    optimizer={"x1": 0.168, "x2": 4.06708478, "x3": 10.0, "x4": 0.168},
    worst=19.01859,
)


# The best of Gardner's, and where, by threshold.
GARDNER_OPTIMA = {0.5: (-2.0, 3 * math.pi / 2, 0.0), -0.5: (-1.8887513617748737, 4.62264094, 5.84933457)}


def _gardner(threshold: float, params: Mapping[str, Any]) -> dict[str, float]:
    x, y = params["x"], params["y"]
    height = math.cos(2 * x) * math.cos(y) + math.sin(x)
    return {"height": height, "slack": threshold - (math.cos(x) * math.cos(y) - math.sin(x) * math.sin(y))}


def gardner(threshold: float = 0.5) -> SeveralProblem:
    """Gardner and others' first simulation: cos(2 x) cos(y) + sin(x) where cos(x) cos(y) - sin(x) sin(y) <= threshold.

    At 0.5, as published, the least value of all keeps the constraint, at (3 pi / 2, 0); at -0.5 the best that keeps it,
    -1.889, lies where the constraint does, and two lower basins break it.
    """
    best, x, y = GARDNER_OPTIMA.get(threshold, (None, 0.0, 0.0))
    return _build_problem(
        "gardner",
        Space(x=Float(0.0, 6.0), y=Float(0.0, 6.0)),
        partial(_gardner, threshold),
        ["height"],
        ["slack"],
        optimum=best,
        optimizer=None if best is None else {"x": x, "y": y},
        worst=2.0,
        reference="Gardner and others (2014), simulation 1",
    )
