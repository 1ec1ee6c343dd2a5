"""The outcomes of an optimization of several: objectives, and those that must keep a bound."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from robustbo.trials.bounds import check_name, is_arithmetic, read_bounds
from robustbo.trials.outcome import Outcome
from robustbo.validation import one_of, real

Direction = Literal["minimize", "maximize"]
DIRECTIONS: tuple[str, ...] = get_args(Direction)
MOST = 4  # objectives: beyond them nearly every point is one that no other beats

EXAMPLES = "such as 'purity >= 0.95', 'cost <= 3' or '6 <= pH <= 8'"


@dataclass(frozen=True)
class OutcomeGoal:
    """One outcome of several: what is wanted of it.

    Attributes:
        name: Its name.
        direction: "minimize" or "maximize"; None where it is no objective.
        low: The least value that will do; -inf unless there is a bound.
        high: The greatest.
        outcome: Its unit and its possible range, where these are said.
    """

    name: str
    direction: Direction | None = None
    low: float = -math.inf
    high: float = math.inf
    outcome: Outcome | None = None

    @property
    def quantity(self) -> Outcome:
        """The measured quantity: its name, and its unit and possible range where these are known."""
        return self.outcome or Outcome(self.name)

    @property
    def is_objective(self) -> bool:
        """Return whether it is an objective."""
        return self.direction is not None

    @property
    def is_constrained(self) -> bool:
        """Return whether it must keep a bound."""
        return math.isfinite(self.low) or math.isfinite(self.high)

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the greatest value that will do."""
        return self.low, self.high

    @property
    def sign(self) -> float:
        """1 where larger is better, else -1: of what is no objective, and has a bound on either side, 1."""
        if self.direction is not None:
            return 1.0 if self.direction == "maximize" else -1.0
        return -1.0 if self.low == -math.inf else 1.0

    def keeps(self, value: float) -> bool:
        """Return whether a value keeps the bounds."""
        return self.low <= value <= self.high


def objectives_of(objectives: Any) -> tuple[tuple[str, Direction], ...]:
    """Objectives as people give them: a mapping of names to directions, or pairs.

    Raises:
        ValueError, TypeError: If they are none; the message says which.
    """
    if not isinstance(objectives, Mapping | Sequence) or isinstance(objectives, str):
        raise TypeError(f'objectives must be a mapping, such as {{"yield": "maximize"}}, got {objectives!r}')
    pairs = list(objectives.items() if isinstance(objectives, Mapping) else objectives)
    if wrong := [pair for pair in pairs if not isinstance(pair, tuple | list) or len(pair) != 2]:
        raise TypeError(f'objectives must be a mapping, such as {{"yield": "maximize"}}, got {wrong[0]!r} in a list')
    if len(pairs) > MOST:
        raise ValueError(
            f"there must be at most {MOST} objectives, got {len(pairs)}; turn some of them into constraints"
        )
    directions = tuple((check_name(name), one_of(f"the direction of {name!r}", way, DIRECTIONS)) for name, way in pairs)
    if len(dict(directions)) < len(directions):
        raise ValueError(f"each objective must have a name of its own, got {[name for name, _ in directions]}")
    return directions  # type: ignore[return-value]  # `one_of` has looked


def nonempty_objectives(objectives: Any) -> tuple[tuple[str, Direction], ...]:
    """Objectives as people give them, at least one.

    Raises:
        ValueError, TypeError: If they are none; the message says which.
    """
    if not (pairs := objectives_of(objectives)):
        raise ValueError('objectives must name at least one, such as {"yield": "maximize"}, got none')
    return pairs


def outcomes_of(
    objectives: Iterable[tuple[str, Direction]], constraints: Iterable[str], quantities: Iterable[Outcome] = ()
) -> tuple[tuple[OutcomeGoal, ...], tuple[str, ...]]:
    """The outcomes of objectives and constraints, the objectives first; and the constraints, in one way of writing.

    Raises:
        ValueError, TypeError: If a constraint cannot be read, no value keeps those of an outcome, or a quantity is none
            of the outcomes.

    Example:
        >>> goals, texts = outcomes_of([("yield", "maximize")], ["0.95<=purity"])
        >>> texts, [goal.name for goal in goals], goals[1].low
        (('purity >= 0.95',), ['yield', 'purity'], 0.95)
    """
    outcomes = {name: OutcomeGoal(name, direction) for name, direction in objectives}
    quantities = tuple(quantities)
    names = {*outcomes, *(quantity.name for quantity in quantities)}
    for text in constraints:
        read = _read(text)
        if is_arithmetic(read.name) and read.name not in names:
            raise ValueError(
                f"an outcome constraint must bound one outcome by its name, got {text!r}; tell {read.name!r} as an "
                "outcome of its own, and bound that by its name, such as 'total <= 1' (where it is a name, say so: "
                f"outcome=rb.Outcome({read.name!r}))"
            )
        last = outcomes.get(read.name, OutcomeGoal(read.name))
        low, high = max(last.low, read.low), min(last.high, read.high)
        if low > high:
            raise ValueError(f"outcome_constraints must leave {read.name!r} some value, got {low} <= ... <= {high}")
        outcomes[read.name] = OutcomeGoal(read.name, last.direction, low, high)
    for quantity in quantities:
        goal = outcomes[one_of("the name of an outcome", quantity.name, outcomes)]
        if goal.low > quantity.high or goal.high < quantity.low:
            possible = f"some value in the possible range {quantity.range}"
            raise ValueError(f"outcome_constraints must leave {goal.name!r} {possible}, got {_constraint_texts(goal)}")
        outcomes[quantity.name] = replace(goal, outcome=quantity)
    return tuple(outcomes.values()), tuple(text for goal in outcomes.values() for text in _constraint_texts(goal))


def _read(text: Any) -> OutcomeGoal:
    subject, form = "an outcome constraint", "NAME >= NUMBER or NAME <= NUMBER"
    name, low, high = read_bounds(subject, form, EXAMPLES, text)
    if math.isinf(low) and math.isinf(high):
        raise ValueError(f"{subject} must be {form}, {EXAMPLES}, got {text!r}")
    return OutcomeGoal(check_name(name), None, low, high)


def _constraint_texts(outcome: OutcomeGoal) -> list[str]:
    low = [] if outcome.low == -math.inf else [f"{outcome.name} >= {outcome.low!r}"]
    return low + ([] if outcome.high == math.inf else [f"{outcome.name} <= {outcome.high!r}"])


def quantities_of(quantities: Any) -> tuple[Outcome, ...]:
    """The measured quantities: one outcome, or several.

    Raises:
        ValueError, TypeError: If it is none, or two have one name.
    """
    listed = (quantities,) if isinstance(quantities, Outcome) else quantities
    if isinstance(listed, str) or not isinstance(listed, Iterable):
        raise TypeError(
            f"outcome must be an Outcome, such as rb.Outcome('yield', unit='%'), or a list, got {quantities!r}"
        )
    listed = tuple(listed)
    if wrong := [quantity for quantity in listed if not isinstance(quantity, Outcome)]:
        raise TypeError(f"each outcome must be an Outcome, such as rb.Outcome('yield', unit='%'), got {wrong[0]!r}")
    for quantity in listed:
        quantity.check_content()
    names = [quantity.name for quantity in listed]
    if len(set(names)) < len(names):
        raise ValueError(f"each outcome must have a name of its own, got {names}")
    return listed


def reference_of(point: Any, objectives: Sequence[tuple[str, Direction]]) -> tuple[tuple[str, float], ...]:
    """A reference point, a finite number for each objective, in their order; empty where none is given.

    Raises:
        ValueError, TypeError: If it is none.
    """
    if not point:
        return ()
    pairs = list(point.items() if isinstance(point, Mapping) else point)
    if any(not isinstance(pair, tuple | list) or len(pair) != 2 for pair in pairs):
        raise TypeError(f"reference_point must be a mapping of objectives to numbers, got {point!r}")
    numbers = {name: real(f"the reference point's {name}", number) for name, number in dict(point).items()}
    names = [name for name, _ in objectives]
    if len(names) < 2 or sorted(numbers) != sorted(names) or not all(map(math.isfinite, numbers.values())):
        raise ValueError(
            f"reference_point must have a finite number for each of several objectives {names}, got {dict(point)!r}"
        )
    return tuple((name, numbers[name]) for name in names)
