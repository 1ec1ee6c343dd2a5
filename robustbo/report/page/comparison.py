"""Optimizations beside each other: the best so far of those that want the same in one chart, and a table of all."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from robustbo.loop.best.front import common_reference
from robustbo.loop.best.incumbent import Incumbent
from robustbo.report.charts.chart import Chart, Line, axis, trials_axis
from robustbo.report.charts.fronts import volume_line
from robustbo.report.charts.one_outcome import best_so_far
from robustbo.report.charts.palette import Look, looks
from robustbo.report.page import journal_page
from robustbo.report.page.table import Table
from robustbo.report.summary.text_outcomes import brief
from robustbo.rounding import format_number
from robustbo.trials.settings import Settings
from robustbo.view.view import View

DIGITS = 4  # of a number in the table
HEADER = ("journal", "wanted", "told", "incumbent", "believed", "at")
SINGLE = "The best of the points measured up to each trial, as each study's own model believes now."
SEVERAL = (
    "Several objectives have no single best. The hypervolume says how much the points measured up to each trial cover "
    "together of what is better than {}, as each study's own model believes now. More is better."
)


class NamedView(NamedTuple):
    """An optimization, what it is called, and the place of its journal."""

    name: str
    view: View
    place: str = journal_page.SOMEWHERE


class ComparedChart(NamedTuple):
    """A chart of optimizations that want the same: its title, the chart, and how it is to be read."""

    title: str
    chart: Chart
    guide: str


class Comparison(NamedTuple):
    """Several optimizations beside each other.

    Attributes:
        charts: One a goal: of the best so far, or of several objectives of the hypervolume.
        table: A row an optimization.
        keys: The class of the marks of each.
        looks: How each is drawn.
    """

    charts: Sequence[ComparedChart]
    table: Table
    keys: Mapping[str, str]
    looks: Mapping[str, Look]


class Member(NamedTuple):
    """One of them: its name among the others, the class of its marks, and how it is drawn."""

    name: str
    key: str
    look: Look
    view: View

    def style(self, line: Line) -> Line:
        """A curve of it."""
        return line._replace(label=self.name, color=self.look.color, dash=self.look.dash, key=self.key, width=2.0)


def compare(journals: Sequence[NamedView]) -> Comparison:
    """Put optimizations beside each other.

    Raises:
        FitError: If a surrogate cannot be fitted.
    """
    keys = {f"{i + 1}: {journal.name}": f"j{i}" for i, journal in enumerate(journals)}  # two may have one name
    styles = looks([*keys])
    members = [Member(name, keys[name], styles[name], of.view) for name, of in zip(keys, journals, strict=True)]
    by_goal: dict[str, list[Member]] = {}
    for member in members:
        by_goal.setdefault(_goal(member.view.settings), []).append(member)
    charts, cells = list[ComparedChart](), dict[str, list[object]]()
    for goal, alike in by_goal.items():
        draw = _compare_bests if len(alike[0].view.settings.objectives) < 2 else _compare_volumes
        if measured := [member for member in alike if member.view.is_measured]:
            charts.append(draw(goal, measured, cells))
    rows = [
        [of.name, _goal(of.view.settings), of.view.history.counts()["told"], *cells.get(of.name, ["-", "-", "-"])]
        for of in members
    ]
    return Comparison(charts, Table(HEADER, rows), keys, styles)


def _goal(settings: Settings) -> str:
    """The objectives with their directions; journals of the same can be compared."""
    objectives = (o.quantity.label_with_goal(o.direction) for o in settings.outcomes if o.direction is not None)
    return " and ".join(objectives) or settings.quantity.label_with_goal(settings.direction)


def _compare_bests(goal: str, members: Sequence[Member], cells: dict[str, list[object]]) -> ComparedChart:
    """The best so far of each that has one objective, and for the table the best of all its trials."""
    lines = []
    for member in members:
        best: Sequence[Incumbent] = member.view.bests()
        last = best[-1]
        lines.append(member.style(best_so_far(best, len(member.view.history))))
        cells[member.name] = [
            last.trial.number,
            last.quantity.amount(last.mean, last.sd, digits=DIGITS),
            brief(last.params, DIGITS),
        ]
    return ComparedChart(
        f"{goal}: the best so far", _chart(goal, lines, f"{goal}: the best so far of each journal"), SINGLE
    )


def _compare_volumes(goal: str, members: Sequence[Member], cells: dict[str, list[object]]) -> ComparedChart:
    """The hypervolume of each that has several objectives, beyond a reference point that all share."""
    studies = [(member.view.settings, member.view.credible_points()) for member in members]
    reference, lines = common_reference(studies), []
    for member in members:
        volumes = member.view.hypervolumes(reference)
        lines.append(member.style(volume_line(volumes)))
        count = len(member.view.front())
        amount = f"hypervolume {format_number(volumes[-1], DIGITS)}"
        cells[member.name] = [f"a front of {count} point{'s' * (count != 1)}", amount, "-"]
    quantities = members[0].view.settings.quantities
    corner = ", ".join(f"{name} {quantities[name].with_unit(format_number(end, 3))}" for name, end in reference.items())
    chart = _chart("hypervolume", lines, f"{goal}: the hypervolume of each journal")
    return ComparedChart(f"{goal}: the hypervolume so far", chart, SEVERAL.format(corner))


def _chart(label: str, lines: Sequence[Line], about: str) -> Chart:
    across = trials_axis(max(int(line.x[-1]) for line in lines))
    return Chart("", across, axis(label, *(line.y for line in lines), margin=0.06), lines, about=about)
