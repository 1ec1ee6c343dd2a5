"""The promises of docs/security.md: each names a test that is there, and those that no other file has are here."""

import ast
import re
import warnings
from pathlib import Path

import pytest

import robustbo as rb
from tests.trials.forged import command as run_command

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "security.md"
PROMISED = PAGE.read_text(encoding="utf-8").partition("## What is not promised")[0]
NAMED = re.findall(r"`(tests/[\w/]+\.py(?:::\w+)+)`", PROMISED)


def names_in(tree, before=()):
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield "::".join((*before, node.name))
        if isinstance(node, ast.ClassDef):
            yield from names_in(node, (*before, node.name))


def is_there(named):
    path, _, name = named.partition("::")
    return name in names_in(ast.parse((ROOT / path).read_text(encoding="utf-8")))


def test_the_tests_of_all_promises_are_there():
    assert NAMED
    assert not [named for named in NAMED if not is_there(named)]


def test_every_promise_names_one():
    promises = re.split(r"^- ", PROMISED, flags=re.MULTILINE)[1:]
    assert len(promises) >= 10
    for promise in promises:
        assert re.search(r"`tests/[\w/]+\.py::", promise), promise


@pytest.mark.few(2)
@pytest.mark.parametrize("arguments", [["show"], ["show", "--format", "json"], ["best"], ["verify"], ["report"]])
def test_a_name_cannot_speak_to_the_terminal(tmp_path, monkeypatch, arguments):
    space = rb.Space(**{"\x1b]0;title\x07\x1b[2J": rb.Float(0, 1), "c": rb.Choice("\x1b[31m", "\x9b2J\r")})
    opt = rb.Optimizer(
        space, direction="minimize", seed=1, num_initial=2, journal=tmp_path / "j.jsonl", surrogate="standard"
    )
    for value in (1.0, 2.0, 3.0):
        opt.tell(opt.ask(), value)
    opt.fail(opt.ask(), "\x1b[2J" * 3)
    command, *options = arguments
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.ExhaustedWarning)
        monkeypatch.chdir(tmp_path)
        code, out, err = run_command(command, "j.jsonl", *options)
    assert code == 0, err
    assert out + err
    assert [c for c in out + err if not c.isprintable() and c != "\n"] == []


def test_no_file_is_unpickled():
    """Nothing that unpickles is called, but for what this program's own worker processes send each other."""
    own = ROOT / "robustbo" / "driving" / "evaluators"
    for path in {*(ROOT / "robustbo").rglob("*.py")} - {*own.iterdir()}:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func) if isinstance(node.func, ast.Attribute) else ""
                assert called not in {"pickle.load", "pickle.loads", "torch.load", "joblib.load", "shelve.open"}, path
                assert not any(k.arg == "allow_pickle" and ast.unparse(k.value) != "False" for k in node.keywords), path
