"""The plan of the league: problems, settings, methods, and the order of cells, which may be stopped at any time.

A setting is what goes wrong with the values of a problem, as a run file says it (`RunSpec`): all methods meet the same
error at the same trial. Wrong values come beside noise of 2 % of the spread; failures and "clean" are exact. Where
there is a region in which all trials crash, the best point lies outside it.

A replication of all comes before the next one; within it the cheap methods come before the dear ones. The core of the
plan has each problem clean, with noise of 5 %, and in a third of the other settings, so that each setting has problems
of all sizes; `part="all"` has the rest as well.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from robustbo.replay.spec.optimization import RunSpec
from robustbo.tasks.corruption import FAILURE
from robustbo.tasks.problem import Problem
from robustbo.tasks.problem import load as load_problem

BUDGETS = (30, 60, 100)  # trials after which a point is recommended; a run has the last of them
REPLICATIONS, DEAR_REPLICATIONS = 20, 8


OF_REPEATS = ("clean", "repeats", "any-5", "any-10", "any-20")


class ProblemEntry(NamedTuple):
    """A problem: its name in the registry, its options, and the settings that it can be in, all unless said."""

    registered: str
    options: dict[str, Any] = {}  # noqa: RUF012 (nobody changes it)
    settings: tuple[str, ...] | None = None

    @property
    def has_repeats(self) -> bool:
        """True if its values are real repeats, whose noise is their own."""
        return self.settings == OF_REPEATS


PROBLEMS = {
    "branin": ProblemEntry("branin"),  # 2 dimensions
    "three-hump-camel": ProblemEntry("three-hump-camel"),
    "egg-holder": ProblemEntry("egg-holder"),
    "hartmann3": ProblemEntry("hartmann3"),
    "svr": ProblemEntry("svr-diabetes"),  # 3
    "powell": ProblemEntry("powell"),  # 4
    "mixture": ProblemEntry("mixture"),  # 4, a sum
    "crossed-barrel": ProblemEntry("crossed-barrel", settings=OF_REPEATS),  # 4, a pool
    "ackley-5": ProblemEntry("ackley", {"d": 5}),
    "hartmann6": ProblemEntry("hartmann6"),
    "hplc": ProblemEntry("hplc", settings=OF_REPEATS),  # 6, a pool
    "boosting": ProblemEntry("boosting-diabetes"),  # 6, mixed
    "conditional": ProblemEntry("conditional"),  # 10, mixed and conditional
    "levy-10": ProblemEntry("levy", {"d": 10}),
    "ackley-20": ProblemEntry("ackley", {"d": 20}),
    "rover": ProblemEntry("rover", {"variant": "ebo_large"}),  # 60
}
DATA = "ROBUSTBO_DATA"  # the folder of data that are not ours to ship
if (photo := Path(os.environ.get(DATA, ""), "transfer", "photo_pce10.csv")).is_file():
    PROBLEMS["photo"] = ProblemEntry("table", {"file": str(photo), "direction": "minimize"}, settings=OF_REPEATS)

OF_DATA = {"svr", "boosting", "crossed-barrel", "hplc", "photo"}  # learners of real data, and real measurements
GROUPS = {  # of problems, which have tables of their own, since a peer may be recorded on one alone
    "functions": [name for name in PROBLEMS if name not in OF_DATA],
    "data": [name for name in PROBLEMS if name in OF_DATA],
}

LITTLE = {"share": 0.02}
GROSS = {"good": ("too-good", {"ranges": 1.0}), "bad": ("too-good", {"ranges": -1.0}), "any": ("in-range", {})}
SETTINGS: dict[str, dict[str, Any]] = {
    "clean": {},
    "noise-5": {"noise": {"share": 0.05}},
    "noise-20": {"noise": {"share": 0.2}},
    "student-t": {"noise": {"share": 0.05, "dof": 2}},
    **{
        f"{side}-{percent}": {"noise": LITTLE, "corruption": {"kind": kind, "probability": percent / 100, **options}}
        for percent in (5, 10, 20)
        for side, (kind, options) in GROSS.items()
    },
    "stuck": {"noise": LITTLE, "corruption": {"kind": "sticks", "probability": 0.1}},
    "source": {"noise": LITTLE, "corruption": {"kind": "source-offset", "error": 1.0, "workers": 4}},
    "crash": {"corruption": {"kind": "failure", "region": "half-space", "share": 0.3}},
    "flakes": {"corruption": {"kind": "failure", "probability": 0.2}},
    "repeats": {"corruption": {"kind": "repeats"}},
}
ABOUT = {
    "clean": "exact values",
    "noise-5": "Gaussian noise, 5 % of the spread",
    "noise-20": "Gaussian noise, 20 % of the spread",
    "student-t": "Student-t noise of two degrees of freedom, scale 5 % of the spread",
    **{f"good-{n}": f"{n} % of the values too good by one range" for n in (5, 10, 20)},
    **{f"bad-{n}": f"{n} % of the values too bad by one range" for n in (5, 10, 20)},
    **{f"any-{n}": f"{n} % of the values anywhere in the range; of pools, another point's" for n in (5, 10, 20)},
    "stuck": "10 % of the values are the one before again",
    "source": "one of four workers measures too high, by one spread",
    "crash": "all trials in 30 % of the space crash",
    "flakes": "20 % of the trials fail anywhere",
    "repeats": "real measurements with real repeats, of pools alone",
}
ALWAYS = ("clean", "noise-5", "repeats")  # in the core


class MethodEntry(NamedTuple):
    """A method: the environment that it runs in, None of ours, seconds of the processor an ask, and replications."""

    environment: str | None
    ask_s: float
    replications: int = REPLICATIONS


METHODS = {  # with seconds an ask at 5 to 25 values of branin; at 100 values, or in 20 dimensions, it is more
    "random": MethodEntry("modern", 0.0),
    "cma": MethodEntry("modern", 0.001),
    "optuna-tpe": MethodEntry("modern", 0.001),
    "pybads": MethodEntry("modern", 0.03),
    "oracle": MethodEntry(None, 0.07),
    "informed": MethodEntry(None, 0.07),
    "standard": MethodEntry(None, 0.07),
    "student-t": MethodEntry(None, 0.08),
    "optuna-gp": MethodEntry("modern", 0.12),
    "processoptimizer": MethodEntry("modern", 0.13),
    "turbo": MethodEntry("modern", 0.14),
    "skopt": MethodEntry("modern", 0.3),
    "default": MethodEntry(None, 0.57),
    "botorch": MethodEntry("modern", 0.35, DEAR_REPLICATIONS),
    "baybe": MethodEntry("modern", 0.36, DEAR_REPLICATIONS),
    "ax": MethodEntry("modern", 0.6, DEAR_REPLICATIONS),
    "smac": MethodEntry("modern", 0.8, DEAR_REPLICATIONS),
    "bofire": MethodEntry("modern", 1.0, DEAR_REPLICATIONS),
    "botorch-pursuit": MethodEntry("modern", 2.0, DEAR_REPLICATIONS),
    "hebo": MethodEntry("hebo", 3.6, DEAR_REPLICATIONS),
}
OURS = ("default", "student-t", "standard", "informed", "oracle")
FIRST = "default"  # with which all others are compared
KNOW_MORE = ("informed", "oracle")  # than a user can


class Table(NamedTuple):
    """A setting and a group of problems that a table compares methods in."""

    setting: str
    group: str

    @property
    def name(self) -> str:
        """The name that the page has for it."""
        return self.setting if self.group == "functions" else f"{self.setting}, {self.group}"


def is_allowed(problem: str, setting: str) -> bool:
    """Return whether a problem can be in a setting."""
    allowed = PROBLEMS[problem].settings
    return setting != "repeats" if allowed is None else setting in allowed


def is_core(problem: str, setting: str) -> bool:
    """Return whether a problem is in a setting of the core of the plan."""
    if not is_allowed(problem, setting) or setting in ALWAYS:
        return is_allowed(problem, setting)
    places = [name for name in PROBLEMS if is_allowed(name, setting)].index(problem), [*SETTINGS].index(setting)
    return sum(places) % 3 == 0


@cache
def problem_of(name: str) -> Problem:
    """The problem itself."""
    return load_problem(PROBLEMS[name].registered, **PROBLEMS[name].options)


@cache
def spec_of(name: str, setting: str) -> RunSpec:
    """The run file of a problem in a setting; each problem has draws of its own.

    Raises:
        ValueError: If the problem cannot be in the setting.
    """
    if not is_allowed(name, setting):
        raise ValueError(f"{name} must be in a setting that its values allow, got {setting!r}")
    entry, parts = PROBLEMS[name], {key: dict(value) for key, value in SETTINGS[setting].items()}
    if entry.has_repeats and setting.startswith("any"):  # the mix-ups of a pool
        parts = {"corruption": {"kind": "repeats", "probability": parts["corruption"]["probability"]}}
    if setting == "crash":
        parts["corruption"] |= away_from_best(name)
    start = {"problem": entry.registered, "problem_options": entry.options, "seed": [*PROBLEMS].index(name)}
    return RunSpec(**start, **parts, methods=["standard"], trials=BUDGETS[-1], replications=REPLICATIONS)


def away_from_best(name: str) -> dict[str, float]:
    """A normal of a plane, beyond which the best point of a problem cannot lie: of at most ten coordinates."""
    problem = problem_of(name)
    best = problem.optimizer or problem.best_seen_at
    assert best is not None
    unit = np.array(problem.space.to_unit(best))[:10]
    return {f"normal_{i}": 1.0 if u <= 0.5 else -1.0 for i, u in enumerate(unit, 1)}


def cases(problems: Sequence[str], settings: Sequence[str], part: str) -> Iterator[tuple[str, str]]:
    """Problems in settings, of the core or all that there are."""
    for problem in problems:
        for setting in settings:
            if is_core(problem, setting) or (part == "all" and is_allowed(problem, setting)):
                yield problem, setting


def order(
    replications: range, methods: Sequence[str], problems: Sequence[str], settings: Sequence[str], part: str = "core"
) -> Iterator[tuple[int, str, str, str]]:
    """Replications, methods, problems and settings: in the order in which they are recorded.

    A dear method has fewer replications than a cheap one.
    """
    by_cost = sorted(methods, key=lambda method: METHODS[method].ask_s)
    for replication in replications:
        for method in by_cost:
            if replication < METHODS[method].replications:
                for problem, setting in cases(problems, settings, part):
                    yield replication, method, problem, setting


def alike(method: str, problem: str, setting: str) -> tuple[str, str]:
    """The method and setting of the cell that a cell cannot differ from, its own of most.

    The oracle's are those of exact values, and those of `informed` where no value is wrong are the plain GP's.
    """
    corruption = spec_of(problem, setting).corruption
    if method == "oracle":
        return method, "clean"
    if method == "informed" and (corruption is None or corruption.kind == FAILURE):
        return "standard", setting
    return method, setting


def core_hours(
    methods: Sequence[str], problems: Sequence[str], settings: Sequence[str], part: str = "core"
) -> dict[str, float]:
    """Hours of one core that the plan takes, by method: seconds an ask times asks."""
    needs = {(problem, *alike(m, problem, s)) for m in methods for problem, s in cases(problems, settings, part)}
    numbers = Counter(method for _, method, _ in needs)
    return {
        method: METHODS[method].ask_s * METHODS[method].replications * number * BUDGETS[-1] / 3600
        for method in METHODS
        if (number := numbers[method])
    }
