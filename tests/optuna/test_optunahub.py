"""Our folder of OptunaHub's registry: it has what the registry asks for, loads, and its example runs; no network."""

import inspect
import re
import runpy
from pathlib import Path

import optunahub
import pytest
import yaml

from robustbo.optuna import RobustSampler

REGISTRY = Path(__file__).parents[2] / "docs" / "optunahub"
FOLDER = REGISTRY / "package" / "samplers" / "robustbo"
FRONT = ("author", "title", "description", "tags", "optuna_versions", "license")  # what the registry's check demands
SECTIONS = ["Abstract", "APIs", "Installation", "Example", "Others"]  # of its template


@pytest.fixture(scope="module")
def page():
    return (FOLDER / "README.md").read_text(encoding="utf-8")


def test_it_has_the_files_of_the_template():
    files = {path.name for path in FOLDER.iterdir() if path.is_file()}
    assert files == {"README.md", "LICENSE", "__init__.py", "example.py", "requirements.txt"}
    assert "<COPYRIGHT HOLDER" not in (FOLDER / "LICENSE").read_text(encoding="utf-8")
    assert (FOLDER / "LICENSE").read_text(encoding="utf-8").startswith("MIT License\n")


def test_the_front_matter_is_whole(page):
    _, front, text = page.split("---\n", 2)
    found = yaml.safe_load(front)
    assert list(found) == [*FRONT]
    assert all(found.values())
    assert "sampler" in found["tags"]
    assert all(isinstance(version, str) for version in found["optuna_versions"])
    assert found["license"] == "MIT License"
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == SECTIONS
    assert "Please" not in text  # the template's words
    assert not re.search(r"<[a-z/]", text)  # the registry removes HTML


def test_the_page_has_our_arguments(page):
    (given,) = re.findall(r"`RobustSampler\((.*)\)`", page)
    parameters = list(inspect.signature(RobustSampler.__init__).parameters.values())[1:]
    quoted = [f'{p.name}="{p.default}"' if isinstance(p.default, str) else f"{p.name}={p.default}" for p in parameters]
    assert given == ", ".join(["*", *quoted])
    assert set(re.findall(r"`(\w+)`[,:]", page)) >= {p.name for p in parameters}


def test_it_requires_the_extra():
    assert (FOLDER / "requirements.txt").read_text(encoding="utf-8").split() == ["robustbo[optuna]"]


def test_it_loads_as_the_hub_loads_it():
    module = optunahub.load_local_module("samplers/robustbo", registry_root=str(REGISTRY / "package"))
    assert module.__all__ == ["RobustSampler"]
    assert module.RobustSampler is RobustSampler


@pytest.mark.slow
def test_the_example_runs(monkeypatch, capsys):
    monkeypatch.chdir(REGISTRY)
    names = runpy.run_path(str(FOLDER / "example.py"))
    assert names["best"](names["study"]).value < 3
    out = capsys.readouterr().out
    assert "Optuna's best value: -1000.0" in out
    assert "What looks wrong: [12, 7]" in out or "What looks wrong: [7, 12]" in out


@pytest.mark.slow
def test_the_example_of_the_page_runs(page, monkeypatch, capsys):
    def load_module(package):
        return optunahub.load_local_module(package, registry_root=str(REGISTRY / "package"))

    monkeypatch.setattr(optunahub, "load_module", load_module)
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(block, {})
    assert "Best(number=" in capsys.readouterr().out
