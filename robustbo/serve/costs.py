"""Costs of the measurements of a study so far, in words: by source where sources have costs, and of a budget."""

from __future__ import annotations

import math

from robustbo.report.charts.marks import count_before
from robustbo.report.page.table import Table
from robustbo.rounding import format_number
from robustbo.trials.declared import target_of
from robustbo.trials.history import History
from robustbo.trials.settings import Settings

MEASURED = ("told", "failed", "excluded")  # the states of trials that somebody has spent something on


def spent_by_source(settings: Settings, history: History) -> dict[str, tuple[int, float]]:
    """The number of measurements of each source, and what they have cost; under "" where no source was declared.

    What was measured before the first ask is not counted.
    """
    target = str(target_of(settings.sources) or "")
    costs = {name: source.cost for name, source in settings.sources} or {"": 1.0}
    counts = dict.fromkeys(costs, 0)
    for trial in history.trials[count_before(history) :]:
        name = trial.source if trial.source in counts else target
        counts[name] += trial.state in MEASURED
    return {name: (count, count * costs[name]) for name, count in counts.items()}


def cost_summary(settings: Settings, history: History, budget: float) -> tuple[str, Table | None]:
    """A sentence on what has been spent, and a table where there are several sources.

    Args:
        settings: Of the study.
        history: Its trials.
        budget: What all may cost together; infinite where nobody has said.

    Returns:
        An empty sentence where there is neither a budget nor a source with a cost.
    """
    by_source = spent_by_source(settings, history)
    total = sum(cost for _, cost in by_source.values())
    rows = [[name, count, format_number(cost, 3)] for name, (count, cost) in by_source.items()]
    table = Table(["source", "measurements", "cost"], rows) if len(rows) > 1 else None
    if math.isinf(budget):
        return (f"Measurements so far cost {format_number(total, 4)}." if table else ""), table
    left = budget - total
    rest = f"{format_number(left, 4)} are left" if left > 0 else "the budget is spent"
    return f"{format_number(total, 4)} of a budget of {format_number(budget, 4)} are spent: {rest}.", table
