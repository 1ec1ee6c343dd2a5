"""The templates of the served pages; what they can do with data is what the pages of reports can."""

from typing import Any

from jinja2 import ChoiceLoader, PackageLoader
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from robustbo.report.page.environment import ENVIRONMENT, render
from robustbo.serve.bench import Bench
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


def answer(request: Request, template: str, status: int = 200, **data: Any) -> HTMLResponse:
    """A page; all text in its data is escaped."""
    bench: Bench = request.app.state.bench
    frame = {"name": bench.name, "goal": bench.opt.settings.goal, "state": bench.state(), "path": request.url.path}
    frame["states"] = STATES
    return HTMLResponse(TEMPLATES.get_template(template).render(**frame, **data), status)


def plain_answer(template: str, status: int = 200, **data: Any) -> HTMLResponse:
    """A page that shows nothing of the study."""
    return HTMLResponse(TEMPLATES.get_template(template).render(**data), status)


def charts_style(_: Request) -> Response:
    """The style of charts, which is that of reports."""
    return Response(CHARTS, media_type="text/css")
