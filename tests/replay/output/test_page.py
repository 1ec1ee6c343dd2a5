import base64
import hashlib
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from robustbo.errors import SpecError
from robustbo.replay.output import page
from robustbo.replay.output.page import load
from robustbo.replay.sections.section import initial_methods

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SPEC = """title = "<b>Branin</b> & others"
problem = "branin"
methods = ["standard", "relevance-pursuit", "oracle"]
trials = 6
num_initial = 3
replications = 2
[corruption]
kind = "constant"
probability = 0.3
value = 100.0
"""


@pytest.fixture
def run(tmp_path):
    """A run whose rows are made up: ours is half way from the plain GP to the oracle."""
    folder = tmp_path / "made-up"
    folder.mkdir()
    (folder / "spec.toml").write_text(SPEC)
    rows = []
    for method, final in (("standard", 3.0), ("relevance-pursuit", 2.0), ("oracle", 1.0)):
        for replication in range(2):
            for trial in range(6):
                corrupted, flagged = (
                    trial == 4 and method != "oracle",
                    trial in (4, 5) and method == "relevance-pursuit",
                )
                inference = np.nan if trial < 2 else final + (5 - trial) + 0.1 * replication
                rows.append(
                    {"method": method, "replication": replication, "trial": trial, "repeats": None}
                    | {"origin": "sobol" if trial < 3 else "model", "clean": 5.0 - trial}
                    | {"value": 100.0 if corrupted else 5.0 - trial, "corrupted": corrupted, "flagged": flagged}
                    | {"inference": inference, "fit_s": 0.2, "acquisition_s": 0.1}
                )
    pd.DataFrame(rows).to_csv(folder / "results.csv", index=False)
    return folder


@pytest.mark.parametrize("known", ["oracle", "informed"])
def test_who_knows_the_errors_is_not_the_best_in_the_spec_or_out_of_it(run, known):
    rows = pd.read_csv(run / "results.csv").replace("oracle", known)
    rows.to_csv(run / "results.csv", index=False)
    for methods in (f'["standard", "relevance-pursuit", "{known}"]', '["standard", "relevance-pursuit"]'):
        (run / "spec.toml").write_text(SPEC.replace('["standard", "relevance-pursuit", "oracle"]', methods))
        text = page.page([load(run)])
        assert "<b>2.05</b>" in text
        assert "<b>1.05</b>" not in text


def test_the_numbers_are_there_and_the_best_is_bold(run):
    text = page.page([load(run)])
    assert "50 %" in text  # the normalized regret reduction
    assert re.search(r"relevance-pursuit</td><td><b>2.05</b>", text)
    assert "<td>0.50</td><td>1.00</td>" in text  # precision and recall of its flags
    assert "constant corruption of 30 % (value 100.0)" in text
    assert "wrong, called so: 1" in text
    assert "robustbo replay" in text


def test_names_are_escaped_and_nothing_is_asked_of_the_network(run):
    text = page.page([load(run)])
    assert "<b>Branin" not in text
    assert "&lt;b&gt;Branin&lt;/b&gt; &amp; others" in text
    assert not re.search(r"(src|href)=|https?://|@import|url\(", text)


def test_it_says_of_which_methods_less_is_recorded(run):
    assert "Less is recorded" not in page.page([load(run)])
    rows = pd.read_csv(run / "results.csv")
    rows[(rows["method"] != "oracle") | (rows["replication"] == 0)].to_csv(run / "results.csv", index=False)
    assert "Less is recorded of oracle (6 rows of 12)." in page.page([load(run)])


def test_what_is_not_recorded_is_said(tmp_path):
    (tmp_path / "spec.toml").write_text(SPEC)
    with pytest.raises(SpecError, match="expected a recorded run"):
        load(tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
def test_a_browser_shows_it_and_the_switches_work(run, tmp_path):
    """Its console stays empty; a box that is unchecked hides its method's curve."""
    probe = """<script>
    const shown = () => [...document.querySelectorAll("g.m0")].filter(g => g.style.display !== "none").length;
    const before = shown();
    document.querySelector("input[data-key=m0]").click();
    document.title = "probe:" + before + ":" + shown() + ":" + document.querySelectorAll("svg[role=img]").length;
    </script>"""
    text = probe.removeprefix("<script>").removesuffix("</script>")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    shown = page.page([load(run)]).replace("script-src ", f"script-src 'sha256-{digest}' ", 1)
    (tmp_path / "page.html").write_text(shown.replace("</html>", probe + "</html>"))
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]
    command = [CHROMIUM, *options, f"file://{tmp_path}/page.html"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    found = re.search(r"<title>probe:(\d+):(\d+):(\d+)</title>", done.stdout)
    assert found is not None
    before, after, charts = map(int, found.groups())
    assert before >= 1
    assert after == 0
    assert charts == 4
    assert "CONSOLE" not in done.stderr


def test_the_methods_that_matter_are_on_at_first():
    methods = ["sobol", "botorch", "standard", "student-t", "committee", "relevance-pursuit", "default", "oracle"]
    assert initial_methods(methods) == ["oracle", "standard", "relevance-pursuit", "default", "student-t"]
    assert initial_methods(["oracle", "a", "standard", "b"]) == ["oracle", "standard", "a", "b"]
