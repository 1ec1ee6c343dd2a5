"""The application: which address does what."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from robustbo.serve import beginning, comparing, downloads, model, pages, recording, uploads
from robustbo.serve.access import Access
from robustbo.serve.bench import Bench
from robustbo.serve.environment import answer, charts_style
from robustbo.serve.extras import NOTHING, Extras
from robustbo.serve.forms import wants_json
from robustbo.serve.guard import Guard
from robustbo.trials.storage.places import Place

STATIC = Path(__file__).parent / "static"
ROUTES = [
    Route("/", pages.work),
    Route("/values", pages.values),
    Route("/trials/{number:int}", pages.trial),
    Route("/progress", pages.progress),
    Route("/model", model.page),
    Route("/compare", comparing.page),
    Route("/report", pages.report),
    Route("/trials", pages.trials),
    Route("/best", pages.best),
    Route("/events", pages.events),
    Route("/api", pages.api),
    Route("/openapi.json", pages.openapi),
    Route("/begin", beginning.form),
    Route("/begin", beginning.post_form, methods=["POST"]),
    Route("/login", recording.sign_in, methods=["GET", "POST"]),
    Route("/ask", recording.post_ask, methods=["POST"]),
    Route("/measurements", recording.post_measurement, methods=["POST"]),
    Route("/trials/{number:int}/{action:str}", recording.post_trial, methods=["POST"]),
    Route("/sheet", uploads.post_sheet, methods=["POST"]),
    Route("/download/{name:str}", downloads.download),
    Route("/print", pages.printable),
    Route("/static/charts.css", charts_style),
    Mount("/static", StaticFiles(directory=STATIC)),
]


def application(bench: Bench | None, access: Access, place: Place, extras: Extras = NOTHING) -> Guard:
    """The application of a study, behind its door.

    Args:
        bench: The study; None where it is to be begun.
        access: Who may use it.
        place: Of its journal.
        extras: What a study that is to be begun has beside it.
    """
    watches: list[asyncio.Task[None]] = []

    def start(study: Bench) -> None:
        app.state.bench = study
        watches.append(asyncio.create_task(study.watch()))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        if bench is not None:
            start(bench)
        try:
            yield
        finally:
            for watch in watches:
                watch.cancel()
                with suppress(asyncio.CancelledError):
                    await watch
            if app.state.bench is not None:
                app.state.bench.close()

    app = Starlette(
        routes=ROUTES,
        lifespan=lifespan,
        middleware=[Middleware(beginning.FormFirst)],
        exception_handlers={HTTPException: _refuse, Exception: _fail},
    )
    app.state.bench, app.state.place, app.state.uploads = bench, place, uploads.Uploads()
    app.state.beginning, app.state.start, app.state.extras = asyncio.Lock(), start, extras
    return Guard(app, access)


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if wants_json(request) or "text/html" not in request.headers.get("accept", ""):
        return JSONResponse({"error": error.detail}, error.status_code)
    if request.app.state.bench is None:
        return PlainTextResponse(error.detail, error.status_code)
    return answer(request, "message.html", error.status_code, title="This is not there", text=error.detail, number=None)


async def _fail(request: Request, error: Exception) -> Response:
    """Say nothing of a mistake of ours to whoever asks; the log has it."""
    return JSONResponse({"error": "this could not be done; the log of the server says why"}, 500)
