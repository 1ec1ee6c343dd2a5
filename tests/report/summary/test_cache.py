import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from robustbo import Float, Optimizer, Space
from robustbo.report.summary import cache

LOOK = """
import sys
from robustbo.cli.app import main
try:
    main()
finally:
    print("torch" in sys.modules, file=sys.stderr)
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    opt = Optimizer(Space(x=Float(0.0, 1.0)), direction="minimize", seed=0, surrogate="standard", journal="j.jsonl")
    for i in range(6):
        opt.tell({"x": i / 6}, math.sin(i))
    return opt


def show(*options):
    """What it prints, and whether it had to make the overview."""
    command = [sys.executable, "-c", LOOK, "show", "j.jsonl", *options]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    return made.stdout, made.stderr.splitlines()[-1] == "True"


def files():
    return sorted(cache.folder().iterdir()) if cache.folder().exists() else []


def test_an_unchanged_journal_is_looked_at_once(study):
    first, was_made = show()
    assert was_made
    assert show() == (first, False)
    assert json.loads(show("--format", "json")[0])["trials"]["told"] == 6
    (path,) = files()
    if os.name == "posix":
        assert path.stat().st_mode & 0o077 == 0 == path.parent.stat().st_mode & 0o077


@pytest.mark.slow
def test_a_journal_that_has_changed_is_looked_at_again(study):
    show()
    study.tell({"x": 0.9}, -7.25)
    out, was_made = show()
    assert was_made
    assert "-7.25" in out
    assert len(files()) == 2


@pytest.mark.slow
def test_who_has_ended_is_found_out_at_each_look(study):
    asked = "import robustbo; robustbo.Optimizer.resume('j.jsonl').ask(); input()"
    with subprocess.Popen([sys.executable, "-c", asked], stdin=subprocess.PIPE) as process:
        while '"ask"' not in Path("j.jsonl").read_text():
            assert process.poll() is None
        assert "has ended" not in show()[0]
        process.communicate(b"\n")
    out, was_made = show()
    assert not was_made
    assert "See to trial 6. The process that asked for it has ended" in out


def test_another_version_looks_for_itself(study, monkeypatch):
    before = cache.key("j.jsonl")
    monkeypatch.setattr(cache, "_code", lambda: ("another",))
    assert cache.key("j.jsonl") not in (None, before)


@pytest.mark.slow
def test_a_torn_line_is_not_kept(study):
    with Path("j.jsonl").open("a") as file:
        file.write('{"event": "te')
    assert cache.key("j.jsonl") is None
    show()
    assert files() == []


@pytest.mark.slow
def test_where_nothing_can_be_kept_show_works(study, tmp_path):
    (tmp_path / "cache").write_text("a file where a folder should be")
    assert show()[1]
    assert show()[1]


@pytest.mark.slow
def test_what_cannot_be_read_is_made_again(study):
    first, _ = show()
    for text in ("{", "[]\n", files()[0].read_text().replace("best", "worst", 1)):
        files()[0].write_text(text)
        assert show() == (first, True)
    assert show() == (first, False)


def test_the_last_used_are_kept(study, monkeypatch):
    monkeypatch.setattr(cache, "COUNT", 2)
    for i, name in enumerate("abc"):
        cache.put(name, {"pending": []})
        os.utime(cache.folder() / f"{name}.json", (i, i))
    assert [path.stem for path in files()] == ["b", "c"]
    cache.get("b")
    cache.put("d", {"pending": []})
    assert [path.stem for path in files()] == ["b", "d"]


def test_the_key_follows_from_all_the_code_of_the_package():
    assert {"loop", "numerics", "report", "surrogates", "view"} <= {path.name for path in cache.CODE.iterdir()}
