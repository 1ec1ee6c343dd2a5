"""The page that compares the served study with others: the best so far of each, drawn together."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from robustbo.errors import RobustBOError
from robustbo.report.page.comparison import Comparison, NamedView, compare
from robustbo.serve.environment import answer, bench_of
from robustbo.serve.extras import COMPARISON
from robustbo.serve.forms import wants_json
from robustbo.view.view import View


def page(request: Request) -> Response:
    """The studies beside each other: ``GET /compare``."""
    bench = bench_of(request)

    def compute(view: View) -> Comparison:
        return compare([NamedView(bench.name, view), *bench.extras.views()])

    try:
        if wants_json(request):
            table = bench.wait_for(COMPARISON, compute).table
            return JSONResponse({"studies": [dict(zip(table.header, row, strict=True)) for row in table.rows]})
        result, is_now = bench.latest(COMPARISON, compute)
    except (RobustBOError, OSError) as error:
        raise HTTPException(422, str(error)) from None
    reason = result if isinstance(result, str) else None
    return answer(
        request,
        "compare.html",
        alone=not bench.extras.beside,
        comparison=None if reason else result,
        is_now=is_now,
        reason=reason,
    )
