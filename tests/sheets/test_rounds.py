"""Random rounds of asking, telling and what people do to a sheet in between: no cell is lost, no value told twice."""

import csv
import errno
import io
import os
import random
import tempfile
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import robustbo as rb
from robustbo.sheets import file

SPACE = rb.Space(x=rb.Float(0, 1), n=rb.Int(1, 9), c=rb.Choice("a", "=b"))
WORDS = ("broke", "failed: 3 vials", "kein Gas")
OURS = ("trial", "x", "n", "c", "repeats", "value")


class Lab:
    """A person with a spreadsheet program that knows nothing of ours, an optimizer, and what goes wrong."""

    def __init__(self, folder, seed):
        self.folder, self.sheet, self.journal = folder, folder / "todo.csv", folder / "j.jsonl"
        self.opt = rb.Optimizer(SPACE, direction="minimize", acquisition="sobol", seed=1, journal=self.journal)
        self.random, self.values = random.Random(seed), 0
        self.separator, self.mark = ",", False
        self.failure = None

    # what the person does

    def rows(self):
        if not self.sheet.exists():
            return []
        text = self.sheet.read_bytes().decode("utf-8-sig")
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=self.separator))

    def save(self, rows):
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=self.separator, lineterminator="\r\n").writerows(rows)
        self.sheet.write_bytes(text.getvalue().encode("utf-8-sig" if self.mark else "utf-8"))

    def number(self, text):
        return text.replace(".", ",") if self.separator == ";" else text

    def new_value(self):
        self.values += 1
        return self.number(f"{self.values}.5")

    def edited(self, change):
        """Change a row that is there, given its cells by the header's names."""
        rows = self.rows()
        if len(rows) > 1:
            row = self.random.randrange(1, len(rows))
            cells = dict(zip(rows[0], rows[row], strict=True))
            change(cells)
            rows[row] = [cells[name] for name in rows[0]]
            self.save(rows)

    def fill(self):
        self.edited(lambda cells: cells["value"] or cells.update(value=self.new_value()))

    def say(self):
        self.edited(lambda cells: cells["value"] or cells.update(value=self.random.choice(WORDS)))

    def retype(self):
        self.edited(lambda cells: cells["value"] and cells.update(value=self.new_value()))

    def measure_elsewhere(self):
        self.edited(lambda cells: cells.update(n=str(int(cells["n"]) % 9 + 1)) if cells["n"] else None)

    def own_row(self):
        if rows := self.rows():
            own = {"x": self.number(f"0.{self.random.randrange(1, 99):02}"), "n": "3", "c": "a"}
            own["value"] = self.new_value()
            self.save([*rows, [own.get(name, "") for name in rows[0]]])

    def sort(self):
        if rows := self.rows():
            self.save([rows[0], *self.random.sample(rows[1:], len(rows) - 1)])

    def move_columns(self):
        if rows := self.rows():
            order = self.random.sample(range(len(rows[0])), len(rows[0]))
            self.save([[row[column] for column in order] for row in rows])

    def note(self):
        if rows := self.rows():
            at = self.random.randrange(len(rows[0]) + 1)
            notes = [f"note {len(rows[0])}", *(f"=sum({i})" for i in range(1, len(rows)))]
            self.save([[*row[:at], note, *row[at:]] for row, note in zip(rows, notes, strict=True)])

    def delete_row(self):
        rows = self.rows()
        if len(rows) > 1:
            del rows[self.random.randrange(1, len(rows))]
            self.save(rows)

    def lose(self):
        self.sheet.unlink(missing_ok=True)
        self.separator, self.mark = ",", False

    def save_otherwise(self):
        """Save it as a program in another language does, with semicolons and decimal commas, and a mark."""
        if rows := self.rows():
            ours = {at for at, name in enumerate(rows[0]) if name in ("x", "value")}
            old, new = (".", ",") if self.separator == "," else (",", ".")
            self.separator, self.mark = (";", True) if self.separator == "," else (",", False)
            rows = [[c.replace(old, new) if at in ours else c for at, c in enumerate(row)] for row in rows]
            self.save(rows)

    def open_or_close(self):
        lock = self.folder / ".~lock.todo.csv#"
        lock.unlink() if lock.exists() else lock.touch()

    def break_disk(self):
        self.failure = self.random.choice([OSError(errno.ENOSPC, "no space"), KeyboardInterrupt()])

    def resume(self):
        self.opt = rb.Optimizer.resume(self.journal)

    # what the program does, and what must hold of it

    def ask(self):
        with self.checked(is_asking=True):
            self.opt.write_sheet(self.sheet, self.random.randrange(3))

    def read(self):
        with self.checked():
            self.opt.read_sheet(self.sheet)

    def amend(self):
        with self.checked():
            self.opt.read_sheet(self.sheet, amend=True)

    @contextmanager
    def checked(self, is_asking=False):
        before = self.sheet.read_bytes() if self.sheet.exists() else None
        rows, told = self.rows(), [t for t in self.opt.history if not t.is_open]
        with self.on_broken_disk():
            try:
                yield
            except (rb.SheetError, KeyboardInterrupt) as error:
                assert (self.sheet.read_bytes() if self.sheet.exists() else None) == before
                if isinstance(error, rb.SheetError) and "nothing was told" in str(error):
                    assert [t for t in self.opt.history if not t.is_open] == told
        left = {path.name for path in self.folder.iterdir()} - {"todo.csv", ".~lock.todo.csv#"}
        assert not [name for name in left if not name.startswith(("j.jsonl", ".j.jsonl"))]
        now = self.rows()
        assert is_asking or len(now) == len(rows)
        for old, new in zip(rows, now, strict=False):  # every cell that had something in it
            assert all(cell == other or not cell for cell, other in zip(old, new, strict=True))
        values = [trial.value for trial in self.opt.history if trial.value is not None]
        assert len(set(values)) == len(values)

    @contextmanager
    def on_broken_disk(self):
        failure, self.failure = self.failure, None

        def fsync(handle):
            if failure:
                raise failure

        with mock.patch.object(file, "os", SimpleNamespace(**{**vars(os), "fsync": fsync})):
            yield

    def mended(self):
        """The sheet as its messages advise: closed, and without the number where it was measured elsewhere."""
        (self.folder / ".~lock.todo.csv#").unlink(missing_ok=True)
        self.failure = None
        rows = self.rows()
        for row in rows[1:]:
            cells = dict(zip(rows[0], row, strict=True))
            trial = self.opt.history[int(cells["trial"])] if cells["trial"] else None
            if trial and int(cells["n"]) != trial.params["n"]:
                is_elsewhere = trial.is_open and cells["value"]
                row[rows[0].index("trial" if is_elsewhere else "n")] = "" if is_elsewhere else str(trial.params["n"])
        if rows:
            self.save(rows)


STEPS = [
    *("ask", "read", "amend", "fill", "say", "retype", "measure_elsewhere", "own_row", "sort", "move_columns", "note"),
    *("delete_row", "lose", "save_otherwise", "open_or_close", "break_disk", "resume"),
]
STEP = st.sampled_from([*STEPS, "ask", "ask", "read", "fill", "fill", "fill"])


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEP, min_size=3, max_size=30), st.integers(0, 2**16))
@example(["ask", "ask", "fill", "ask", "fill", "read", "retype", "ask", "amend", "read"], 3)
@example(["ask", "ask", "own_row", "break_disk", "read", "own_row", "ask", "sort", "read", "save_otherwise", "ask"], 4)
@example(
    ["ask", "ask", "fill", "measure_elsewhere", "read", "lose", "ask", "resume", "open_or_close", "fill", "ask"], 5
)
def test_no_cell_is_lost_and_no_value_told_twice(steps, seed):
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(Path(folder), seed)
        for step in ["ask", *steps]:
            getattr(lab, step)()
        lab.mended()
        if not lab.sheet.exists():
            lab.ask()
        lab.amend()
        rows = lab.rows()
        history = lab.opt.history
        for row in rows[1:]:
            cells = dict(zip(rows[0], row, strict=True))
            if cells["value"]:  # is told, once, as the trial whose number it has
                trial = history[int(cells["trial"])]
                number = cells["value"].replace(",", ".")
                assert trial.reason == number if trial.state == "failed" else trial.value == float(number)
        lab.opt.write_sheet(lab.sheet, 0)
        there = [int(row[rows[0].index("trial")]) for row in lab.rows()[1:]]
        assert {trial.number for trial in history.having("pending")} <= set(there)
        assert len(set(there)) == len(there)


@pytest.mark.filterwarnings("ignore:.*is taken for trial:robustbo.SheetWarning")
def test_a_row_of_somebody_s_own_that_was_amended_is_told_once(tmp_path):
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="maximize", seed=0)
    path = tmp_path / "own.csv"
    for expected in (2, 2):
        path.write_text("trial,x,value\n,0.5,99\n,0.25,3\n")
        opt.read_sheet(path)
        assert len(opt.history) == expected
        opt.amend(0, 9.9)
    assert [trial.value for trial in opt.history] == [9.9, 3.0]
