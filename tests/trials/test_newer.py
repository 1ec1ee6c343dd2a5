"""Journals of a newer robustbo: whoever opens one is told to update."""

import json

import pytest

import robustbo as rb
from robustbo.trials.storage.line import header_line, lines_of


@pytest.fixture
def journal(tmp_path):
    """A journal with further settings and events, whose checksums are right."""

    def written(settings, *more):
        path = tmp_path / "study.jsonl"
        opt = rb.Optimizer(rb.Space(x=rb.Float(0.0, 1.0)), direction="maximize", seed=0, journal=path)
        opt.tell({"x": 0.5}, 1.0)
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        header, *events = [{k: v for k, v in line.items() if k not in ("check", "schema")} for line in lines]
        first, check = header_line(header | {"settings": header["settings"] | settings})
        path.write_text("\n".join([first, *lines_of([*events, *more], check)[0]]) + "\n")
        return path

    return written


def test_an_event_that_is_not_known_is_of_a_newer_robustbo(journal):
    path = journal({}, {"event": "merge", "trial": 0})
    with pytest.raises(rb.JournalError, match=r"line 3: 'merge' is an event of a newer robustbo, .* update robustbo"):
        rb.Optimizer.resume(path)


def test_a_setting_that_is_not_known_is_of_a_newer_robustbo(journal):
    with pytest.raises(rb.JournalError, match=r"line 1: .*'future' is a setting of a newer robustbo, .* update"):
        rb.Optimizer.resume(journal({"future": 3}))


def test_another_process_may_be_a_newer_robustbo(journal):
    path = journal({})
    opt = rb.Optimizer.resume(path)
    before = path.read_text().splitlines()
    line = lines_of([{"event": "merge", "trial": 0}], int(json.loads(before[-1])["check"], 16))[0]
    path.write_text("\n".join([*before, *line]) + "\n")
    with pytest.raises(rb.JournalError, match=r"study.jsonl: 'merge' is an event of a newer robustbo"):
        _ = opt.history
