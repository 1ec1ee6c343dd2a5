"""The command lines of benchmarks: options that many have, and steps: record, keep rows, print tables or put them into
a page."""

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from benchmarks.common import csv_rows, pages, recording
from benchmarks.common.parsers import parser_of
from benchmarks.common.tables import ENOUGH, put

Step = Callable[[argparse.Namespace], None]
Tables = Mapping[str, pd.DataFrame]


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add the option of how many processes work at once."""
    parser.add_argument("--jobs", type=int, default=1, help="processes of one thread each")


def add_least(parser: argparse.ArgumentParser) -> None:
    """Add the option of how many replications a method must have to be kept; see `tables.with_enough`."""
    parser.add_argument("--least", type=int, default=ENOUGH, help="replications of a method that is kept")


def add_page(parser: argparse.ArgumentParser) -> None:
    """Add the option of the files into which tables are put; see `pages.put`."""
    parser.add_argument("--page", type=Path, nargs="+", help="a page, and a file beside the rows; printed without them")


def parser_of_studies(text: str | None, problems: Sequence[str], replications: int) -> argparse.ArgumentParser:
    """The parser of a benchmark that keeps a row a study of some problems, and puts tables into a page.

    Args:
        text: The benchmark's docstring.
        problems: Those that it is of unless said.
        replications: How many there are of each unless said.
    """
    parser = _parser_of_rows(text)
    parser.add_argument("--problems", nargs="+", default=problems)
    parser.add_argument("--replications", type=recording.replications, default=range(replications), help="first:end")
    return parser


def parser_of_seeds(text: str | None, seeds: int) -> argparse.ArgumentParser:
    """The parser of a benchmark that keeps a row a cell of some seeds, for `record_seeds`.

    Args:
        text: The benchmark's docstring.
        seeds: How many there are, unless the command says which.
    """
    parser = _parser_of_rows(text)
    parser.add_argument("--seeds", type=recording.replications, default=range(seeds), help="first:end")
    parser.add_argument("--out", type=Path, help="a folder for rows and tables")
    return parser


def record_seeds(
    options: argparse.Namespace,
    key: Sequence[str],
    cells: Iterable[tuple[Any, ...]],
    run: Callable[..., Mapping[str, Any]],
    tables: Callable[[pd.DataFrame], Tables],
) -> None:
    """Run the cells that have no row, and print, write or put into a page the tables of all rows.

    Args:
        options: Those of `parser_of_seeds`.
        key, cells, run: As of `csv_rows.record_missing`.
        tables: From the rows to tables, by the names of their marks in the page.
    """
    torch.set_num_threads(1)
    csv_rows.record_missing(options.work, key, cells, run)
    rows = pd.read_csv(options.work)
    summaries = tables(rows)
    put({"rows": rows, **summaries}, options.out)
    if options.page:
        pages.put(options.page, {name: pages.markdown(table.to_dict("records")) for name, table in summaries.items()})


def _parser_of_rows(text: str | None) -> argparse.ArgumentParser:
    parser = parser_of(text)
    parser.add_argument("--work", type=Path, required=True, help="the rows, which it goes on with")
    add_page(parser)
    return parser


class Commands:
    """Steps of a benchmark by name, each with options of its own.

    Args:
        text: The benchmark's docstring.

    Attributes:
        work: A parent of the steps that read or write what is recorded.
    """

    def __init__(self, text: str | None) -> None:
        self._parser = parser_of(text)
        self.work = argparse.ArgumentParser(add_help=False)
        self.work.add_argument("--work", type=Path, required=True, help="the folder of what is recorded")
        self._steps = self._parser.add_subparsers(required=True)

    def add(self, name: str, step: Step, **how: Any) -> argparse.ArgumentParser:
        """Add a step, and return the parser of its options."""
        parser = self._steps.add_parser(name, help=step.__doc__, **how)
        parser.set_defaults(run=step)
        return parser

    def add_record(self, step: Step, replications: int) -> argparse.ArgumentParser:
        """Add the step that records so many replications."""
        parser = self.add("record", step, parents=[self.work])
        parser.add_argument(
            "--replications", type=recording.replications, default=range(replications), help="first:end"
        )
        add_jobs(parser)
        return parser

    def add_keep(
        self, step: Step, out: Path, parents: Sequence[argparse.ArgumentParser] = ()
    ) -> argparse.ArgumentParser:
        """Add the step that keeps rows of what is recorded in a folder."""
        parser = self.add("keep", step, parents=[self.work, *parents])
        parser.add_argument("--out", type=Path, default=out, help="a folder")
        return parser

    def add_tables(self, step: Step, option: str, rows: Path) -> argparse.ArgumentParser:
        """Add the step that makes tables of rows, by the name of the option that says where they are."""
        parser = self.add("tables", step)
        parser.add_argument(option, type=Path, default=rows, help="what keep wrote")
        add_page(parser)
        return parser

    def run(self, arguments: Sequence[str] | None) -> None:
        """Run the step that is named."""
        options = self._parser.parse_args(arguments)
        options.run(options)
