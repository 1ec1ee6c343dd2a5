"""Forged and damaged journals: every command and every call that reads one takes it or says what is wrong with it.

Nothing is imported, connected to, written elsewhere, or printed raw; nothing takes long. `forged.py` makes more.
"""

from random import Random

import pytest

import robustbo as rb
from robustbo.trials import worker
from robustbo.trials.storage.journal import Journal
from tests.trials import forged

SEEDS = range(64)


@pytest.fixture(scope="module")
def evil():
    with forged.Evil() as watched:
        yield watched


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return [path.read_bytes() for path in forged.journals(tmp_path_factory.mktemp("sources"))]


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    return [
        (run, cell)
        for run in forged.runs(tmp_path_factory.mktemp("runs"))
        for cell in sorted((run / "cells").iterdir())
    ]


def assert_works_for(sources, evil, tmp_path):
    for source in sources:
        for name, outcome, broken in forged.readings(source, tmp_path / "read", evil):
            assert (name, outcome, broken) == (name, "works", [])


@pytest.mark.slow
def test_those_that_nobody_has_forged_work(sources, evil, tmp_path):
    assert_works_for(sources, evil, tmp_path)


@pytest.mark.few(4)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_forged_journal_is_read_or_refused(sources, evil, tmp_path, seed):
    data = forged.made_by(seed, sources[seed % len(sources)], evil.address)
    for name, outcome, broken in forged.readings(data, tmp_path / "read", evil):
        assert outcome in ("works", "refused"), (name, broken)
        assert broken == []


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", SEEDS)
def test_so_is_a_recorded_run_with_a_forged_specification(cells, evil, tmp_path, seed):
    run, _ = cells[seed % len(cells)]
    data = forged.forged_spec((run / "spec.toml").read_bytes(), Random(seed), evil.address)
    for name, outcome, broken in forged.run_readings(run, "spec.toml", data, tmp_path / "read", evil):
        assert outcome in ("works", "refused"), (name, broken)
        assert broken == []


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", SEEDS[::4])
def test_so_is_a_recorded_run_with_a_forged_cell(cells, evil, tmp_path, seed):
    run, cell = cells[seed // 4 % len(cells)]
    data = forged.made_by(seed, cell.read_bytes(), evil.address)
    for name, outcome, broken in forged.run_readings(run, f"cells/{cell.name}", data, tmp_path / "read", evil):
        assert outcome in ("works", "refused"), (name, broken)
        assert broken == []


@pytest.mark.parametrize(
    ("space", "events"),
    [
        (
            {"x": rb.Float(0, 1)},
            [{"event": "ask", "trial": 0, "params": {"x": 0.5}, "by": "{host}:99999999999999999999:1"}],
        ),
        ({"x": rb.Float(0, 1)}, [{"event": "diagnose", "outliers": [10**400], "percentiles": [0.5]}]),
        ({"x": rb.Float(0, 1)}, [{"event": "diagnose", "outliers": [0, 1], "percentiles": [0.5]}]),
        ({"\ud800": rb.Float(0, 1)}, []),
    ],
)
def test_what_was_found_by_hand(space, events, evil, tmp_path):
    host, made = (
        worker.name().split(":")[0],
        rb.Optimizer(rb.Space(**space), direction="minimize", journal=tmp_path / "j", seed=1),
    )
    for value in (1.0, 2.0):
        made.tell(made.ask(), value)
    journal, _ = Journal.resume(tmp_path / "j")
    for event in events:
        whole = {"observations": 2, "void": False} if event["event"] == "diagnose" else {"origin": "user"}
        by = {"by": event["by"].format(host=host)} if "by" in event else {}
        journal.append({**whole, **event, "trial": 2, **by})
    for name, outcome, broken in forged.readings((tmp_path / "j").read_bytes(), tmp_path / "read", evil):
        assert outcome in ("works", "refused"), (name, broken)
        assert broken == []


@pytest.mark.parametrize(
    ("what", "act"),
    [
        ("imported", lambda evil, folder: __import__(forged.EVIL)),
        ("connected", lambda evil, folder: forged.socket.create_connection(evil.server.getsockname()).close()),
        ("was made", lambda evil, folder: (folder / "elsewhere").write_text("")),
        ("was changed", lambda evil, folder: (folder / "j.jsonl").write_text("")),
        ("ZeroDivisionError", lambda evil, folder: 1 / 0),
    ],
)
def test_who_watches_sees(what, act, tmp_path):  # last: the others' watcher sees it too
    with forged.Evil() as evil:
        (tmp_path / "j.jsonl").write_text("whole\n")
        read = lambda path, out: act(evil, out) and "works"  # noqa: E731
        _, broken = forged.read_by("show", read, tmp_path / "j.jsonl", tmp_path, evil)
    assert any(what in each for each in broken)
