"""Answers to posts: values and words on trials, asks, and the token of whoever signs in."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from robustbo.errors import RobustBOError
from robustbo.serve.access import Access
from robustbo.serve.actions import ACTIONS, act, add_measurement
from robustbo.serve.bench import Bench, TooBusyError
from robustbo.serve.environment import answer, bench_of, plain_answer, refuse
from robustbo.serve.forms import Fields, author_in, fields_of, is_json, source_in, text_in, wants_json
from robustbo.serve.plain import trial_values
from robustbo.serve.rows import NOBODY, result_text
from robustbo.serve.served import ChangedMeanwhile
from robustbo.serve.undo import take_back
from robustbo.sheets.filled import value_in
from robustbo.trials.history import Trial
from robustbo.validation import whole_number

PAGES = {"work": "/", "values": "/values", "trial": ""}  # to which a form leads back
MOST_POINTS = 384  # of one ask: a plate
OF_OUTCOMES, OF_ROW = ("value.", "sd."), ("source", "note")  # fields that are typed for a trial
FIXED = "fixed."  # before the name of a parameter
MENDABLE = (ValueError, TypeError, RobustBOError)


async def post_trial(request: Request) -> Response:
    """Do something to a trial: ``POST /trials/7/tell``."""
    bench, action, number = bench_of(request), request.path_params["action"], request.path_params["number"]
    if action not in ACTIONS and action != "take-back":
        raise HTTPException(404, f"the words are {', '.join([*ACTIONS, 'take-back'])}")
    fields = await fields_of(request)
    is_program = is_json(request)

    def run() -> Trial:
        if number >= len(bench.opt.history):
            raise HTTPException(404, f"there is no trial {number}")
        if action == "take-back":
            return take_back(bench, number, fields, request.app.state.place)
        return act(bench, action, number, fields, is_program=is_program)

    return await _answer_to(request, fields, run, number)


async def post_measurement(request: Request) -> Response:
    """Record a measurement that nobody has asked for: ``POST /measurements``."""
    bench, fields = bench_of(request), await fields_of(request)
    return await _answer_to(request, fields, lambda: add_measurement(bench, fields), None)


async def _answer_to(request: Request, fields: Fields, run: Any, number: int | None) -> Response:
    bench = bench_of(request)
    try:
        trial: Trial = await asyncio.to_thread(run)
    except ChangedMeanwhile as conflict:
        return _conflict(request, fields, conflict)
    except MENDABLE as error:
        return refuse(request, "Nothing was recorded", error, number)
    bench.publish()
    if wants_json(request):
        text = result_text(trial, bench.opt.settings.quantities)
        return JSONResponse(trial_values(trial) | {"text": text})
    page = PAGES.get(text_in(fields, "page"), "/") or f"/trials/{number}"
    return RedirectResponse(page, 303)


def _conflict(request: Request, fields: Fields, conflict: ChangedMeanwhile) -> Response:
    """The answer to whoever comes second: what is recorded, and what they typed, which is not lost."""
    quantities, trial = bench_of(request).opt.settings.quantities, conflict.trial
    recorded = result_text(trial, quantities)
    if wants_json(request):
        content = {"error": str(conflict), "recorded": trial_values(trial), "text": recorded}
        return JSONResponse(content, 409)
    texts = {name: text_in(fields, name) for name in fields if name.startswith(OF_OUTCOMES) or name in OF_ROW}
    typed = {name: text for name, text in texts.items() if text}
    return answer(request, "conflict.html", 409, trial=trial, recorded=recorded, typed=typed)


async def post_ask(request: Request) -> Response:
    """Ask for the next points: ``POST /ask``; a program gets them, a page is told when they are there."""
    bench, fields = bench_of(request), await fields_of(request)
    try:
        number = whole_number("n", fields.get("n") if is_json(request) else int(text_in(fields, "n") or 1), 1)
        if number > MOST_POINTS:
            raise ValueError(f"n must be at most {MOST_POINTS} at once, got {number}")
        source = source_in(bench.opt, fields)
        fixed = _fixed_in(bench, fields)
        bench.opt.settings.space.partial(fixed)  # or an error says what is wrong with it
        by = text_in(fields, "measured_by") or author_in(fields) or NOBODY
        future = bench.ask(number, fixed=fixed, by=by, source=source)
    except TooBusyError as error:
        raise HTTPException(503, str(error)) from None
    except MENDABLE as error:
        return refuse(request, "Nothing was asked for", error)
    if not is_json(request):
        future.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # which the page shows
        return JSONResponse(bench.state(), 202) if wants_json(request) else RedirectResponse("/", 303)
    try:
        trials = await asyncio.wrap_future(future)
    except MENDABLE as error:
        return JSONResponse({"error": str(error)}, 422)
    return JSONResponse({"trials": [trial_values(trial) for trial in trials]})


def _fixed_in(bench: Bench, fields: Fields) -> dict[str, Any]:
    """The values that cannot be chosen today: ``fixed`` of a program, ``fixed.NAME`` of a form."""
    if isinstance(fields.get("fixed"), dict):
        return fields["fixed"]
    named = dict(bench.opt.settings.space.parameters)
    texts = {field.removeprefix(FIXED): text_in(fields, field) for field in fields if field.startswith(FIXED)}
    return {
        name: value_in(name, named[name], text, ".") if name in named else text for name, text in texts.items() if text
    }


async def sign_in(request: Request) -> Response:
    """Give a browser the cookie by which it is known, where it has the token."""
    access: Access = request.scope["access"]
    if request.method != "POST" or access.token is None:
        return plain_answer("login.html", is_wrong=False, needs_token=access.token is not None)
    fields = await fields_of(request)
    if not access.knows(text_in(fields, "token")):
        await asyncio.sleep(0.5)
        if wants_json(request):
            return JSONResponse({"error": "this is not the token"}, 403)
        return plain_answer("login.html", 403, is_wrong=True, needs_token=True)
    response: Response = JSONResponse({"ok": True}) if wants_json(request) else RedirectResponse("/", 303)
    response.set_cookie(access.cookie, access.token, httponly=True, samesite="strict", path="/", max_age=30 * 86400)
    return response
