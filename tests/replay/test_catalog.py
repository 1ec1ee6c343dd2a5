"""The list of all that can be run is made once, and again where something may have changed."""

from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest

from robustbo.replay import catalog
from robustbo.tasks import problem


@pytest.fixture
def made(monkeypatch, tmp_path):
    """How often it was made; `about` may be set."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    state = SimpleNamespace(count=0, about="a bowl")

    def rows():
        state.count += 1
        return [{"kind": "problem", "name": "bowl", "about": state.about}]

    is_whole = lambda rows: problem.UNLOADED not in rows[0]["about"]  # noqa: E731
    monkeypatch.setattr(catalog, "listing", SimpleNamespace(catalog=rows, is_whole=is_whole))
    return state


def test_it_is_kept_and_specs_are_looked_for_anew(made, tmp_path):
    first = catalog.catalog()
    (tmp_path / "runs" / "one").mkdir(parents=True)
    (tmp_path / "runs" / "one" / "spec.toml").write_text("")
    (tmp_path / "runs" / "two.toml").write_text("")
    assert catalog.catalog() == [
        *first,
        {"kind": "run", "name": "runs/one", "about": ""},
        {"kind": "run", "name": "runs/two.toml", "about": ""},
    ]
    assert made.count == 1


def test_what_cannot_be_loaded_is_tried_again(made):
    made.about = f"{problem.UNLOADED}: its data are not on this machine"
    assert catalog.catalog() == catalog.catalog()
    assert made.count == 2


def test_it_is_made_anew_where_a_package_of_problems_or_its_registration_changes(made, tmp_path, monkeypatch):
    (tmp_path / "bowls").mkdir()
    (tmp_path / "bowls" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    points = []
    monkeypatch.setattr(catalog, "entry_points", lambda group: points if group == catalog.PROBLEMS else [])
    catalog.catalog()
    points.append(EntryPoint("bowl", "bowls:bowl", catalog.PROBLEMS))
    catalog.catalog()
    (tmp_path / "bowls" / "__init__.py").write_text("bowl = None\n")
    catalog.catalog()
    catalog.catalog()
    assert made.count == 3
