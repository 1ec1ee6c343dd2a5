"""The page on Optuna runs, and prints what it says."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "howto" / "optuna.md").read_text(encoding="utf-8")
TUNERS = (DOCS / "howto" / "ray-hydra.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_page_runs_and_prints_what_it_says(tmp_path, monkeypatch, capsys):
    (tmp_path / "docs").symlink_to(DOCS)
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block, names)
        assert capsys.readouterr().out.splitlines() == re.findall(r"^# (.*)$", block, re.MULTILINE)
    assert {"history.html", "outliers.html", "study.db"} <= {path.name for path in tmp_path.iterdir()}


def test_what_it_shows_of_the_examples_is_theirs():
    """Ray and Hydra are not there where tests run, but that what is shown stands in the files can be seen."""
    ray = (DOCS / "examples" / "ray_tune.py").read_text(encoding="utf-8")
    for line in (
        "storage = optuna.storages.InMemoryStorage()",
        "search = OptunaSearch(",
        "max_concurrent=2), num_samples=30",
    ):
        assert line in ray
        assert line in TUNERS
    shown = re.search(r"```yaml\n(.*?)```", TUNERS, re.DOTALL)[1]
    assert shown == (DOCS / "examples/hydra/conf/hydra/sweeper/sampler/robust.yaml").read_text(encoding="utf-8")


def test_its_links_lead_somewhere():
    for link in re.findall(r"\]\(([^)]+)\)", PAGE):
        page, _, part = link.partition("#")
        assert (DOCS / "howto" / (page or "optuna.md")).exists(), link
        headings = re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)
        assert page or part in {heading.lower().replace(" ", "-") for heading in headings}, link
