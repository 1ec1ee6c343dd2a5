"""The form by which a study is begun: checked as it is typed, with its first points, and as TOML."""

from __future__ import annotations

import asyncio
import secrets
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from robustbo.errors import RobustBOError
from robustbo.serve.bench import Bench, study_name
from robustbo.serve.environment import plain_answer
from robustbo.serve.forms import Fields, fields_of, text_in, wants_json
from robustbo.serve.plan import GOALS, KINDS, Plan, read_plan
from robustbo.serve.rows import cell_text

FIRST = 4  # points of the preview
ROWS = 6  # of parameters, to begin with
OUTCOMES = 3


class FormFirst:
    """An application that shows its form alone until there is a study."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_open = scope["type"] != "http" or scope["path"].startswith(("/begin", "/static/", "/login"))
        if is_open or scope["app"].state.bench is not None:
            await self._app(scope, receive, send)
            return
        await RedirectResponse("/begin", 303)(scope, receive, send)


def form(request: Request) -> Response:
    """The form; the work, where the study has been begun."""
    if request.app.state.bench is not None:
        return RedirectResponse("/", 303)
    return _page(request, {}, "")


def _page(request: Request, fields: Fields, error: str, status: int = 200) -> Response:
    rows = {"parameters": ROWS, "outcomes": OUTCOMES, "kinds": KINDS, "goals": GOALS}
    texts = {name: value for name, value in fields.items() if isinstance(value, str)}
    seed = text_in(fields, "seed") or str(secrets.randbelow(10**6))
    name = study_name(request.app.state.place)
    return plain_answer("begin.html", status, name=name, error=error, texts=texts, seed=seed, **rows)


async def post_form(request: Request) -> Response:
    """Check the form, give it as TOML, or begin the study: ``POST /begin``."""
    state, fields = request.app.state, await fields_of(request)
    order = text_in(fields, "do") or "check"
    if state.bench is not None:
        raise HTTPException(409, "the study has been begun already")
    try:
        plan = read_plan(fields)
        if order == "toml":
            disposition = {"Content-Disposition": 'attachment; filename="space.toml"'}
            return Response(plan.toml(), media_type="application/toml", headers=disposition)
        if order != "begin":
            return JSONResponse(await asyncio.to_thread(_preview, plan))
        async with state.beginning:
            if state.bench is None:
                opt = await asyncio.to_thread(plan.begin, state.place)
                state.start(Bench(opt, state.place, state.extras))
    except (RobustBOError, ValueError, TypeError) as error:
        if order == "check" or wants_json(request):
            return JSONResponse({"error": str(error)}, 422)
        return _page(request, fields, str(error), 422)
    return JSONResponse({"ok": True}) if wants_json(request) else RedirectResponse("/", 303)


def _preview(plan: Plan) -> dict[str, Any]:
    """The first points of a study, which is not begun by that."""
    opt = plan.begin(None)
    trials = opt.ask(FIRST)
    names = opt.settings.space.names
    rows = [[cell_text(trial.params.get(name)) for name in names] for trial in trials]
    return {"goal": opt.settings.goal, "names": names, "rows": rows, "num_initial": opt.settings.num_initial}
