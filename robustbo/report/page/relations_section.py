"""A page's section on the sources beside the target: what each says of it, and where it may be believed."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from robustbo.censored import is_bound
from robustbo.loop.belief.outcome_models import OutcomeModels
from robustbo.report.charts.readings import DOUBTFUL, SourceCharts, source_charts
from robustbo.report.page.attempts import Attempt
from robustbo.report.page.slices_section import Around
from robustbo.report.page.table import Table
from robustbo.report.summary import text_relations
from robustbo.trials.declared import others_of, target_of
from robustbo.view.view import View

GUIDE = (
    "Through {where}, along the parameter by which the two vary most, within two standard deviations. Below: what the "
    "source reads less the objective; gray where that is known no better than to "
    f"{100 * DOUBTFUL:.0f} % of how much the objective varies, so that the source says little there."
)
SHARE = "Its error is known well enough along {share:.0%} of the slice"


class RelationPiece(NamedTuple):
    """A source: its name, and the pictures of what it reads and of its error."""

    title: str
    note: str
    charts: SourceCharts


class RelationsSection(NamedTuple):
    """The section.

    Attributes:
        sentences: One a source.
        reason: Why nothing could be computed; None where it could.
        table: A row a source; None without any.
        guide: How the pictures are to be read.
        pieces: The pictures; or why there are none.
    """

    sentences: Sequence[str]
    reason: str | None
    table: Table | None
    guide: str
    pieces: Attempt | None


def relations_section(view: View, overview: Mapping[str, Any], around: Around | None) -> RelationsSection | None:
    """The section; None where no sources are declared.

    Args:
        view: The optimization.
        overview: Of it.
        around: The point that slices go through, if there is one.
    """
    if "relations" not in overview:
        return None
    rows, reason = text_relations.rows(dict(overview)), overview.get("not_computed", {}).get("relations")
    table = Table([*rows[0]], [[*row.values()] for row in rows]) if rows else None
    pieces = None
    if around is not None and reason is None and not view.space.is_pool:
        pieces = Attempt.of(view, lambda: view.with_models(lambda models: _pieces(view, models, around.params)))
    guide = "" if around is None else GUIDE.format(where=around.where)
    return RelationsSection(text_relations.lines(dict(overview)), reason, table, guide, pieces)


def _pieces(view: View, models: OutcomeModels, params: Mapping[str, Any]) -> list[RelationPiece]:
    target, pieces = str(target_of(view.settings.sources)), list[RelationPiece]()
    for model in models:
        of_outcome = [t if model.name is None else t.of(model.name) for t in view.history]
        trials = [t for t in of_outcome if t.state == "told" and not is_bound(t.measured)]
        quantity = view.settings.quantities[model.name]
        for name in others_of(view.settings.sources):
            charts = source_charts(view.space, model.fitted, name, params, trials, target, quantity)
            if charts is not None:
                title = f"{name}, by {charts.name}" + (f": {model.name}" if model.name else "")
                note = "" if charts.share == 1 else SHARE.format(share=charts.share)
                pieces.append(RelationPiece(title, note, charts))
    return pieces
