"""The templates of the served pages; what they can do with data is what the pages of reports can."""

from typing import Any

from jinja2 import ChoiceLoader, PackageLoader
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from robustbo.report.page.environment import ENVIRONMENT, render
from robustbo.serve.bench import Bench
from robustbo.serve.forms import wants_json
from robustbo.serve.rows import cell_text

TEMPLATES = ENVIRONMENT.overlay(
    loader=ChoiceLoader([PackageLoader("robustbo.serve"), PackageLoader("robustbo.report.page")])
)
TEMPLATES.filters = ENVIRONMENT.filters | {"cell": cell_text}
CHARTS = "".join(f"{render(name)}\n" for name in ("colors.css", "charts.css"))  # of reports and of these pages alike
STATES = {
    "pending": "being measured",
    "queued": "waiting",
    "told": "recorded",
    "failed": "without a value",
    "excluded": "excluded",
    "withdrawn": "withdrawn",
}


def bench_of(request: Request) -> Bench:
    """The study that is served."""
    bench: Bench = request.app.state.bench
    return bench


def answer(request: Request, template: str, status: int = 200, **data: Any) -> HTMLResponse:
    """A page; all text in its data is escaped."""
    bench = bench_of(request)
    frame = {"name": bench.name, "goal": bench.opt.settings.goal, "state": bench.state(), "path": request.url.path}
    more = {"states": STATES, "has_others": bool(bench.extras.beside)}
    return HTMLResponse(TEMPLATES.get_template(template).render(**frame, **more, **data), status)


def refuse(request: Request, title: str, error: Exception, number: int | None = None) -> Response:
    """The answer to a post of which nothing was recorded: why, as JSON or as a page that leads back to a trial."""
    if wants_json(request):
        return JSONResponse({"error": str(error)}, 422)
    return answer(request, "message.html", 422, title=title, text=str(error), number=number)


def plain_answer(template: str, status: int = 200, **data: Any) -> HTMLResponse:
    """A page that shows nothing of the study."""
    return HTMLResponse(TEMPLATES.get_template(template).render(**data), status)


def charts_style(_: Request) -> Response:
    """The style of charts, which is that of reports."""
    return Response(CHARTS, media_type="text/css")
