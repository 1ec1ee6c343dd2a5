"""The command line of benchmarks that keep a row a cell."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from benchmarks.common.commands import parser_of_seeds, record_seeds


def test_cells_are_run_once_and_tables_of_all_rows_go_into_the_page(tmp_path: Path) -> None:
    """Seeds 0 and 1, then 1 and 2: the second command computes seed 2 alone, and its table is of all three."""
    page, computed = tmp_path / "page.md", list[int]()
    page.write_text("before\n<!-- sums -->\n<!-- /sums -->\nafter\n")

    def run(seed: int) -> dict[str, Any]:
        computed.append(seed)
        return {"seed": seed, "y": 10 * seed}

    def tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
        return {"sums": pd.DataFrame([{"cells": len(rows), "sum": rows["y"].sum()}])}

    for seeds in ("0:2", "1:3"):
        arguments = ["--seeds", seeds, "--work", str(tmp_path / "rows.csv"), "--page", str(page)]
        o = parser_of_seeds("A benchmark.", 8).parse_args([*arguments, "--out", str(tmp_path / "out")])
        record_seeds(o, ["seed"], ((seed,) for seed in o.seeds), run, tables)
    assert computed == [0, 1, 2]
    assert "| 3 | 30 |" in page.read_text()
    assert (tmp_path / "out" / "sums.csv").read_text() == "cells,sum\n3,30\n"


def test_the_rows_must_have_a_place(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser_of_seeds("A benchmark.", 8).parse_args([])
    assert "--work" in capsys.readouterr().err
