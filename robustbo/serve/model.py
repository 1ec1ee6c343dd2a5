"""The page of what the model predicts: which parameters matter, maps of two of them, and slices, through a point."""

from __future__ import annotations

from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from robustbo.errors import RobustBOError
from robustbo.loop.belief.judge import Outlier
from robustbo.loop.surrogate.attempt import attempt
from robustbo.report.charts.maps import movable
from robustbo.report.charts.one_outcome import single_outcomes
from robustbo.report.charts.slices import INCUMBENT
from robustbo.report.page.journal_page import best_around
from robustbo.report.page.map_section import MapsSection, Place, maps_section
from robustbo.report.page.pool_map_section import pool_maps_section
from robustbo.report.page.slices_section import Around, SlicesSection, Surface, slices_section
from robustbo.report.page.surfaces import with_surfaces
from robustbo.report.summary.overview import overview
from robustbo.report.summary.text_evidence import STATUSES, evidence_text
from robustbo.searchspace.conditions import condition_text
from robustbo.searchspace.space import Space
from robustbo.serve.bench import Bench
from robustbo.serve.environment import answer, bench_of
from robustbo.serve.forms import wants_json
from robustbo.serve.rows import place_text
from robustbo.view.importance import importance
from robustbo.view.view import View

BEST = "the best point"  # in the words of these pages
IMPORTANCE = "importance"
NOT_YET = "nothing is predicted before values are recorded"


class Question(NamedTuple):
    """The choice of what is drawn: the two parameters, the outcome, and the trial whose point it is through.

    Attributes:
        across, up: Parameters; empty unless chosen.
        outcome: Its name; None where there is one.
        through: The trial; None of the best point.
    """

    across: str
    up: str
    outcome: str | None
    through: int | None


class Drawing(NamedTuple):
    """The answer: maps, where two parameters can move; slices; and where these are."""

    maps: MapsSection | None
    slices: SlicesSection | None
    where: str
    reason: str


def page(request: Request) -> Response:
    """The page of what the model predicts: ``GET /model?across=heat&up=time&through=7``."""
    bench = bench_of(request)
    if wants_json(request):
        return JSONResponse({"importance": _shares(bench)})
    question = _question(bench, request)
    shares, is_known = bench.latest(IMPORTANCE, shares_of)
    has_shares = isinstance(shares, dict)
    if not question.across and has_shares:
        names = shares.get(question.outcome, ())
        question = question._replace(**dict(zip(("across", "up"), names, strict=False)))
    drawing, is_drawn = None, is_known
    if is_known or question.across:
        drawing, is_drawn = bench.latest(f"model {question}", lambda view: draw(view, question))
    settings = bench.opt.settings
    return answer(
        request,
        "model.html",
        question=question,
        names=[name for name, parameter in settings.space.parameters if parameter.count != 1],
        quantities=settings.quantities,
        is_pool=settings.space.is_pool,
        shares=shares.get(question.outcome, {}) if has_shares else {},
        reason=shares if isinstance(shares, str) else drawing if isinstance(drawing, str) else None,
        drawing=drawing if isinstance(drawing, Drawing) else None,
        is_now=is_known and is_drawn,
    )


def _shares(bench: Bench) -> dict[str, dict[str, float]]:
    try:
        shares = bench.wait_for(IMPORTANCE, shares_of)
    except (RobustBOError, ValueError) as error:
        raise HTTPException(422, str(error)) from None
    return {name or "value": of for name, of in shares.items()}


def shares_of(view: View) -> dict[str | None, dict[str, float]]:
    """The importance of parameters; nothing before values are recorded."""
    return importance(view) if view.is_measured else {}


def _question(bench: Bench, request: Request) -> Question:
    """The choice in an address.

    Raises:
        HTTPException: If it is none of this study's.
    """
    settings, history, query = bench.opt.settings, bench.opt.history, request.query_params
    across, up = query.get("across", ""), query.get("up", "")
    names = settings.space.names
    if (across or up) and (across not in names or up not in names or across == up):
        raise HTTPException(422, "a map needs two different parameters; choose again")
    outcome = query.get("outcome") or next(iter(settings.quantities))  # an objective, where there are several
    if outcome not in settings.quantities:
        raise HTTPException(422, "there is no such outcome; choose again")
    through = query.get("through", "")
    if through and not (through.isascii() and through.isdigit() and len(through) < 10 and int(through) < len(history)):
        raise HTTPException(404, "there is no such trial; choose the best point, or another trial")
    return Question(across, up, outcome, int(through) if through else None)


def draw(view: View, question: Question) -> Drawing:
    """The maps and the slices, as is believed now."""
    if not view.is_measured:
        return Drawing(None, None, "", NOT_YET)
    around = _around(view, question)
    singles = single_outcomes(view) if view.settings.outcomes else []
    pair = (question.across, question.up)
    can_move, is_pool = movable(view.space, around.params), view.space.is_pool
    draw_maps = pool_maps_section if is_pool else maps_section

    def use(surfaces: list[Surface]) -> tuple[MapsSection | None, SlicesSection | None]:
        surface = next(of for of in surfaces if question.outcome in (None, of.quantity.name))
        has_map = all(name in can_move for name in pair) and len({*pair}) == 2
        maps = draw_maps(view.space, around, pair, surface, _open_places(view)) if has_map else None
        return maps, None if is_pool else slices_section(view.space, around, [surface])

    result, reason = attempt(lambda: with_surfaces(view, singles, use, describe), view.settings.surrogate)
    maps, slices = result or (None, None)
    fixed = [name for name in pair if name and name not in can_move]
    if fixed and reason is None:
        reason = _why_fixed(view.space, around, fixed)
    return Drawing(maps, slices, around.where, reason or "")


def describe(outlier: Outlier, num_others: int) -> str:
    """A measured value for whoever touches its mark: where, the value, and what the others say of it."""
    value = outlier.quantity.number(outlier.value, sd=outlier.sd)
    evidence = evidence_text(outlier, num_others) if num_others else ""
    title = f"{outlier.trial.title[:1].upper()}{outlier.trial.title[1:]}"
    texts = [f"{title}, {place_text(outlier.trial.params)}: measured {value}", evidence]
    return "; ".join([*filter(None, texts), STATUSES[outlier.status]])


def _why_fixed(space: Space, around: Around, names: list[str]) -> str:
    """The reason why parameters cannot move through a point."""
    absent = [name for name in names if name not in around.params]
    if absent:
        conditions = dict(space.parameters)
        return "; ".join(f"{name} exists only where {condition_text(conditions[name])}" for name in absent)
    return f"at {around.where} {' and '.join(names)} cannot move alone: constraints decide"


def _around(view: View, question: Question) -> Around:
    if question.through is not None:
        trial = view.history[question.through]
        return Around(trial.target_params, f"the point of {trial.title}")
    around = best_around(view, overview(view), is_believed=True)
    assert around is not None  # something is believed
    return around._replace(where=BEST) if around.where == INCUMBENT else around


def _open_places(view: View) -> list[Place]:
    trials = [*view.history.having("pending"), *view.history.having("queued")]
    return [Place(trial.target_params, "to be measured", f"To be measured: {trial.title}") for trial in trials]
