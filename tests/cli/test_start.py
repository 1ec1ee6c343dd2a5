"""What a command imports: those that record or list need neither what fits nor what makes tables."""

import json
import subprocess
import sys

import pytest

import robustbo as rb

HEAVY = ("torch", "gpytorch", "botorch", "linear_operator", "pandas", "scipy")
# Each command in one process after the other; after each, what it has imported that it does not need.
CODE = """
import json, sys
from robustbo.cli import main
for arguments in json.loads(sys.argv[1]):
    sys.argv[1:] = arguments
    try:
        main()
    except SystemExit as ended:
        assert not ended.code, (arguments, ended.code)
    if found := [name for name in json.loads(sys.argv[0]) if name in sys.modules]:
        raise SystemExit(f"{arguments[0]} has imported {found}")
"""


def run_in_a_process(folder, *commands):
    code = f"import sys\nsys.argv[0] = {json.dumps(HEAVY)!r}\n{CODE}"
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(commands)], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_commands_that_record_import_nothing_heavy(tmp_path):
    (tmp_path / "space.toml").write_text(
        'constraints = []\nx = {kind = "float", low = 0, high = 1}\nc = {kind = "choice", values = ["a", "b"]}\n'
    )
    point = json.dumps({"x": 0.5, "c": "b"})
    printed = run_in_a_process(
        tmp_path,
        ["--help"],
        ["create", "lab.jsonl", "space.toml", "--direction", "minimize", "--seed", "1"],
        ["tell", "lab.jsonl", "1.5", "--params", point],
        ["tell", "lab.jsonl", "2.5", "--params", point, "--sd", "0.1"],
        ["amend", "lab.jsonl", "0", "1.25"],
        ["exclude", "lab.jsonl", "0", "--reason", "spilt"],
        ["include", "lab.jsonl", "0"],
        ["requeue", "lab.jsonl"],
        ["repair", "lab.jsonl"],
    )
    assert "trial 0 (told, user), x=0.5, c='b': 1.25" in printed
    opt = rb.Optimizer.resume(tmp_path / "lab.jsonl")
    assert [trial.value for trial in opt.history] == [1.25, 2.5]


def test_so_do_fail_tell_of_a_trial_and_show_of_what_is_cached(tmp_path, monkeypatch, call):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", seed=1, journal=tmp_path / "lab.jsonl")
    opt.ask(3)
    run_in_a_process(tmp_path, ["tell", "lab.jsonl", "0", "1.5"], ["fail", "lab.jsonl", "1", "--reason", "no power"])
    monkeypatch.chdir(tmp_path)
    assert call("show", "lab.jsonl")[0] == 0  # which fits, and is kept
    assert "no power" in run_in_a_process(tmp_path, ["show", "lab.jsonl"])


def test_so_does_list_where_it_has_been_made_before(tmp_path, monkeypatch, call):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    rows = call("list", "--format", "json")[1]
    assert run_in_a_process(tmp_path, ["list", "--format", "json"]) == rows


def test_recording_in_python_imports_nothing_heavy(tmp_path):
    code = (
        "import sys, robustbo as rb\n"
        "opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction='minimize', seed=0, journal='lab.jsonl')\n"
        "opt.enqueue({'x': 0.25})\nopt.tell({'x': 0.5}, 1.0)\nopt.exclude(1)\nassert len(opt.history) == 2\n"
        f"sys.exit(str([name for name in {HEAVY} if name in sys.modules]).replace('[]', '') or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["robustbo", "robustbo.surrogates"])
def test_names_that_are_imported_late_are_listed_and_there(name):
    package = __import__(name, fromlist=["_"])
    assert set(package.__all__) <= set(dir(package))
    assert all(getattr(package, each) is not None for each in package.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = package.nonsense
