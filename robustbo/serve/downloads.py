"""Downloads: all trials as a table, and what is to be measured as a sheet that people fill in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from robustbo.errors import RobustBOError
from robustbo.serve.bench import Bench
from robustbo.serve.environment import bench_of
from robustbo.sheets.sheet import new_sheet
from robustbo.sheets.table import table_bytes

TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


def _trials(bench: Bench, name: str) -> bytes:
    return table_bytes(bench.wait_for("frame", lambda view: view.frame()), Path(name))


def _work(bench: Bench, name: str) -> bytes:
    history = bench.opt.history
    return new_sheet(name, bench.opt.settings, [*history.having("pending"), *history.having("queued")])


WRITERS: dict[str, Callable[[Bench, str], bytes]] = {"trials": _trials, "to-measure": _work}


async def download(request: Request) -> Response:
    """A file: ``/download/trials.xlsx``."""
    name = Path(request.path_params["name"])
    write = WRITERS.get(name.stem)
    if write is None or name.suffix not in TYPES:
        raise HTTPException(
            404, f"the files are {', '.join(f'{stem}{suffix}' for stem in WRITERS for suffix in TYPES)}"
        )
    try:
        data = await asyncio.to_thread(write, bench_of(request), f"{name.stem}{name.suffix}")
    except RobustBOError as error:
        raise HTTPException(422, str(error)) from None
    return Response(
        data,
        media_type=TYPES[name.suffix],
        headers={"Content-Disposition": f'attachment; filename="{name.stem}{name.suffix}"'},
    )
