"""What the README shows must run, and what it lists must be all there is."""

import doctest
import importlib
import pkgutil
import re
import tomllib
from pathlib import Path

import pytest

import robustbo
import robustbo_problems
from robustbo.surrogates.registry import SURROGATES

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MODULES = [
    module.name
    for package in (robustbo, robustbo_problems)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not module.name.endswith("__main__")  # which would run the command
]


def example_with(word, *shorter):
    """The block of the README that has a word, as it stands or with fewer trials."""
    (example,) = [block for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if word in block]
    long, short = shorter or (word, word)
    assert long in example
    return example.replace(long, short)


@pytest.mark.parametrize("shorter", [("range(16)", "range(11)"), pytest.param((), marks=pytest.mark.slow)])
def test_the_ask_and_tell_example_runs(tmp_path, monkeypatch, shorter):
    monkeypatch.chdir(tmp_path)
    example = example_with("opt.ask()", *shorter)
    names = {}
    exec(example, names)
    found = [outlier.trial.number for outlier in names["opt"].outliers() if outlier.flagged]
    assert found == [7]
    assert (tmp_path / "tuning.jsonl").exists()


@pytest.mark.parametrize("shorter", [("n_trials=14", "n_trials=9"), pytest.param((), marks=pytest.mark.slow)])
def test_the_example_of_optuna_runs(capsys, shorter):
    example = example_with("RobustSampler", *shorter)
    names = {}
    exec(example, names)
    assert names["study"].best_trial.number == 6 != names["best"](names["study"]).number
    assert re.search(r"status +refuted", capsys.readouterr().out)


@pytest.mark.slow
def test_the_page_on_failures_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "howto" / "failures.md").read_text(encoding="utf-8")
    names = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        if "robustbo.ax" not in block:  # which tests/ax has
            exec(block, names)
    looks = [failure.looks_like for failure in names["opt"].failures()]
    assert looks.count("region") >= 3
    assert looks[-2:] == ["flake", "region"]  # by the user's word
    assert names["opt"].viability({"width": 1024, "depth": 12, "lr": 0.01}) < 0.3
    assert "dtype: float64" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("name", ["outliers.md", "spaces.md", "several-outcomes.md"])
def test_a_page_runs_and_prints_what_it_says(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "howto" / name).read_text(encoding="utf-8")
    names = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(block, names)
        assert capsys.readouterr().out.splitlines() == re.findall(r"^# (.*)$", block, re.MULTILINE)


def test_the_space_of_the_page_on_the_command_line_is_one():
    page = (ROOT / "docs" / "howto" / "command-line.md").read_text(encoding="utf-8")
    for block in re.findall(r"```toml\n(.*?)```", page, re.DOTALL):
        found = tomllib.loads(block)
        space = robustbo.Space.from_dict(
            {k: v for k, v in found.items() if k != "constraints"}, found.get("constraints", ())
        )
    assert space.broken({"temperature": 90.0, "time": 120}) == ["temperature * time <= 3000"]


def test_every_surrogate_is_in_the_table():
    page = (ROOT / "docs" / "reference" / "surrogates.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(?:auto`, `)?([a-z-]+)` \| \{py:class\}`~([\w.]+)` \|", page, re.MULTILINE))
    assert rows == {name: f"{cls.__module__}.{cls.__qualname__}" for name, cls in SURROGATES.items()}


def test_every_room_is_in_the_architecture():
    named = set(re.findall(r"`([a-z_]+)`", (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")))
    top = {name.split(".")[1] for name in MODULES if name.startswith("robustbo.")}
    assert top <= named


def test_examples_in_docstrings_are_true():
    """All modules in one test; doctest prints each example that fails, and where it stands."""
    assert not [name for name in ("robustbo", *MODULES) if doctest.testmod(importlib.import_module(name)).failed]
