"""The pages: what is measured now, what is believed, one trial, progress; for programs the same as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

from robustbo.errors import RobustBOError
from robustbo.report.page import journal_page
from robustbo.report.page.policy import EMBEDDED_NOWHERE
from robustbo.report.page.policy import POLICY as OF_REPORT
from robustbo.report.summary import overview
from robustbo.serve.beliefs import BeliefRow, belief
from robustbo.serve.bench import Bench
from robustbo.serve.costs import cost_summary
from robustbo.serve.description import document
from robustbo.serve.environment import answer, bench_of
from robustbo.serve.forms import wants_json
from robustbo.serve.overviews import progress as progress_of
from robustbo.serve.plain import trial_values
from robustbo.serve.rows import record_rows, work_rows
from robustbo.serve.undo import events_of, happenings, last_word
from robustbo.serve.why import why
from robustbo.study.sources import levels_in
from robustbo.view.view import View

BELIEF, PROGRESS, REPORT = "belief", "progress", "report"


def work(request: Request) -> Response:
    """The table of what is to be measured."""
    bench = bench_of(request)
    history, settings = bench.opt.history, bench.opt.settings
    rows = work_rows(settings, history)
    if wants_json(request):
        return JSONResponse(bench.state() | {"open": [trial_values(history[row.number]) for row in rows]})
    return answer(request, "work.html", **_work(bench, rows))


def printable(request: Request) -> Response:
    """The table of what is to be measured, for paper."""
    bench = bench_of(request)
    return answer(request, "print.html", **_work(bench, work_rows(bench.opt.settings, bench.opt.history)))


def _work(bench: Bench, rows: Any) -> dict[str, Any]:
    history, settings = bench.opt.history, bench.opt.settings
    return {
        "rows": rows,
        "num_first": 0 if len(history) else settings.num_initial,
        "names": settings.space.names,
        "quantities": list(settings.quantities.values()),
        "recorded": record_rows(settings, history),
        "has_sources": bool(settings.blocks or settings.sources or levels_in(history.trials[-50:])),
    }


def trials(request: Request) -> Response:
    """All trials, for programs: ``GET /trials``."""
    return JSONResponse({"trials": [trial_values(trial) for trial in bench_of(request).opt.history]})


def values(request: Request) -> Response:
    """The belief in each value."""
    bench = bench_of(request)
    if wants_json(request):
        current = bench.wait_for(BELIEF, belief)
        keys = ("outcome", "value", "interval", "wrong", "status", "sentence", "is_doubtful", "errors")
        sources = current.sources.sentences if current.sources else []
        rows = [_belief_values(row, keys) for row in current.rows]
        return JSONResponse({"values": rows, "patterns": current.patterns, "sources": sources})
    current, is_now = bench.latest(BELIEF, belief)
    reason = current if isinstance(current, str) else None
    return answer(request, "values.html", belief=None if reason else current, is_now=is_now, reason=reason)


def _belief_values(row: BeliefRow, keys: Sequence[str]) -> dict[str, Any]:
    return {"trial": row.trial.number, "seen": row.stamp} | {key: getattr(row, key) for key in keys}


def trial(request: Request) -> Response:
    """One trial: why it was asked for, what is recorded and believed of it, and what happened to it."""
    bench, number = bench_of(request), request.path_params["number"]
    history = bench.opt.history
    if number >= len(history):
        raise HTTPException(404, f"there is no trial {number}")
    current = history[number]
    if wants_json(request):
        return JSONResponse(trial_values(current))
    reasons, is_now = bench.latest(f"why {number}", lambda view: why(view, number))
    current_belief, _ = bench.latest(BELIEF, belief)
    rows = [row for row in getattr(current_belief, "rows", ()) if row.trial.number == number]
    events = events_of(request.app.state.place, number)
    return answer(
        request,
        "trial.html",
        trial=current,
        plain=trial_values(current),
        why=reasons,
        is_now=is_now,
        rows=rows,
        quantities=list(bench.opt.settings.quantities.values()),
        happenings=list(happenings(events, bench.opt.settings.quantities)),
        last_word=last_word(current, events),
    )


def progress(request: Request) -> Response:
    """The state of the study: its best, charts, and what to do next."""
    bench = bench_of(request)
    state, is_now = bench.latest(PROGRESS, lambda view: progress_of(view, bench.opt))
    reason = state if isinstance(state, str) else None
    sentence, costs = cost_summary(bench.opt.settings, bench.opt.history, bench.extras.budget)
    data: dict[str, Any] = {"progress": None if reason else state, "is_now": is_now, "reason": reason}
    return answer(request, "progress.html", spent=sentence, costs=costs, **data)


def report(request: Request) -> Response:
    """Everything on one page, as ``robustbo show --html`` writes it."""
    bench = bench_of(request)

    def draw(view: View) -> str:
        return journal_page.page(bench.name, view, place=bench.name, made_at=datetime.now(UTC))

    page = _or_refuse(lambda: bench.wait_for(REPORT, draw))
    return HTMLResponse(page, headers={"Content-Security-Policy": OF_REPORT + EMBEDDED_NOWHERE})


def best(request: Request) -> Response:
    """The best point, or the front, for programs: ``GET /best``."""
    bench = bench_of(request)
    summary = _or_refuse(lambda: bench.wait_for("overview", overview.overview))
    return JSONResponse({key: summary.get(key) for key in ("incumbent", "front", "best_raw_value")})


def _or_refuse(compute: Callable[[], Any]) -> Any:
    try:
        return compute()
    except (RobustBOError, ValueError) as error:
        raise HTTPException(422, str(error)) from None


async def events(request: Request) -> Response:
    """Server-sent events: how the study stands, whenever that changes."""
    return StreamingResponse(bench_of(request).events(), media_type="text/event-stream")


def api(request: Request) -> Response:
    """The addresses for programs, described for people."""
    return answer(request, "api.html", paths=document(bench_of(request).name)["paths"])


def openapi(request: Request) -> Response:
    """The addresses for programs, described for programs."""
    return JSONResponse(document(bench_of(request).name))
