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
from robustbo.searchspace.region.factory import region_of
from robustbo.serve.bench import Bench, study_name
from robustbo.serve.environment import plain_answer
from robustbo.serve.forms import Fields, fields_of, text_in, upload_in, wants_json
from robustbo.serve.plan import GOALS, KINDS, Misfit, Plan, at_field, read_plan
from robustbo.serve.rows import cell_text
from robustbo.serve.uploads import Uploads, plain_name
from robustbo.sheets.points import TableBytes

FIRST = 4  # points of the preview
ROWS = 6  # of parameters, to begin with
OUTCOMES = 3
CHECKS = {"check": 422, "look": 200}  # by a program, or as it is typed: no error of the browser's, if it is none yet


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


def _page(request: Request, fields: Fields, error: str, status: int = 200, *, is_of_table: bool = False) -> Response:
    rows: dict[str, Any] = {"parameters": ROWS, "outcomes": OUTCOMES, "kinds": KINDS, "goals": GOALS}
    texts = {name: value for name, value in fields.items() if isinstance(value, str)}
    seed = text_in(fields, "seed") or str(secrets.randbelow(10**6))
    name = study_name(request.app.state.place)
    has_table = request.app.state.uploads.get(text_in(fields, "table")) is not None
    more = {"has_table": has_table, "is_table_open": has_table or is_of_table}
    return plain_answer("begin.html", status, name=name, error=error, texts=texts, seed=seed, **rows, **more)


async def post_form(request: Request) -> Response:
    """Check the form, give it as TOML, or begin the study: ``POST /begin``."""
    state, fields = request.app.state, await fields_of(request)
    order = text_in(fields, "do") or "check"
    if state.bench is not None:
        raise HTTPException(409, "the study has been begun already")
    try:
        fields["table"] = await _keep_table(state.uploads, fields)
        table = _table(state.uploads, fields["table"])
        plan = await asyncio.to_thread(read_plan, fields, table)
        if order == "toml":
            disposition = {"Content-Disposition": 'attachment; filename="space.toml"'}
            return Response(plan.toml(), media_type="application/toml", headers=disposition)
        if order != "begin":
            return JSONResponse(await asyncio.to_thread(_preview, plan) | {"table": fields["table"]})
        async with state.beginning:
            if state.bench is None:
                opt = await asyncio.to_thread(plan.begin, state.place)
                state.start(Bench(opt, state.place, state.extras))
    except (RobustBOError, ValueError, TypeError) as error:
        if order in CHECKS or wants_json(request):
            field = error.field if isinstance(error, Misfit) else None
            return JSONResponse(
                {"error": str(error), "field": field, "table": text_in(fields, "table")}, CHECKS.get(order, 422)
            )
        return _page(request, fields, str(error), 422, is_of_table=getattr(error, "field", "") == "pool")
    state.uploads.drop(text_in(fields, "table"))
    return JSONResponse({"ok": True}) if wants_json(request) else RedirectResponse("/", 303)


async def _keep_table(uploads: Uploads, fields: Fields) -> str:
    """The word of the table of a form: of the one that comes with it, or of one that came before; or none.

    Raises:
        Misfit: If it is no table, or is not kept any more.
    """
    file, word = await upload_in(fields, "pool"), text_in(fields, "table")
    with at_field("pool"):
        if file is not None:
            return uploads.keep(plain_name(file.name, "table"), file.data)
        if word and uploads.get(word) is None:
            raise ValueError("this table is not here any more; choose it again")
    return word


def _table(uploads: Uploads, word: str) -> TableBytes | None:
    name, data = uploads.get(word) or ("", b"")
    return TableBytes(data, name) if name else None


def _preview(plan: Plan) -> dict[str, Any]:
    """The first points of a study, which is not begun by that; and what the columns of a table were taken for."""
    opt = plan.begin(None)
    space = opt.settings.space
    trials = opt.ask(min(FIRST, region_of(space).size or FIRST))
    rows = [[cell_text(trial.params.get(name)) for name in space.names] for trial in trials]
    content = {"goal": opt.settings.goal, "names": space.names, "rows": rows, "num_initial": opt.settings.num_initial}
    if not space.is_pool:
        return content
    columns = [f"{name}: {KINDS[type(parameter).__name__.lower()]}" for name, parameter in space.parameters]
    return content | {"size": space.size, "columns": columns}
