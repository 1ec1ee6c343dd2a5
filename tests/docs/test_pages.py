"""Every block of Python in README and documentation runs, all blocks of a page in order and in one namespace.

A block that cannot run says why on the line before it: ``<!-- not run: ... -->``. A shell block is run where that line
is ``<!-- run -->``.
"""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"(?:^<!-- ?(?P<mark>[^\n]*?) ?-->\n)?^```(?P<kind>python|sh)\n(?P<code>.*?)^```", re.M | re.S)
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)
INCLUDE = re.compile(r"^```\{include\} (?P<path>\S+)\n```\n", re.MULTILINE)
COMMANDS = ("README.md",)  # whose marked shell blocks install robustbo and run these tests
ELSEWHERE = {  # pages that are run, and what they print compared, by tests of their own
    "README.md": ["test_readme.py", "ax/test_strategy.py"],
    "docs/howto/ax.md": ["ax/test_several.py", "ax/test_spaces_as_people_have_them.py"],
    "docs/howto/bofire.md": ["bofire/test_page.py"],
    "docs/howto/failures.md": ["test_readme.py", "ax/test_viability.py"],
    "docs/howto/gest.md": ["gest/test_page.py"],
    "docs/howto/optuna.md": ["optuna/test_the_page.py"],
    "docs/howto/outliers.md": ["test_readme.py"],
    "docs/howto/several-outcomes.md": ["test_readme.py"],
    "docs/howto/sklearn.md": ["sklearn/test_page.py"],
    "docs/howto/spaces.md": ["test_readme.py"],
}
PAGES = [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").rglob("*.md") if "optunahub" not in p.parts)]
RECORDS = sorted((ROOT / "runs").rglob("*.md"))  # tables beside their rows


def blocks(page):
    """The blocks that run, each with its kind and the number of lines before it."""
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        mark = found["mark"] or ""
        is_run = not mark.startswith("not run") if found["kind"] == "python" else mark.startswith("run")
        if is_run and not (found["kind"] == "sh" and page.name in COMMANDS):
            yield found["kind"], found["code"], text[: found.start("code")].count("\n")


SLOW = {  # many fits, or many processes
    "docs/explanation/acquisition.md",
    "docs/explanation/best-values.md",
    "docs/explanation/computation-aware.md",
    "docs/explanation/doubt.md",
    "docs/explanation/filtered.md",
    "docs/explanation/relevance-pursuit.md",
    "docs/explanation/reproducibility.md",
    "docs/howto/limits.md",
    "docs/howto/old-data.md",
    "docs/howto/optimize.md",
    "docs/howto/own-surrogate.md",
    "docs/howto/spreadsheet.md",
    "docs/tutorial.md",
}
SLOW |= {f"docs/gallery/{path.name}" for path in (ROOT / "docs" / "gallery").glob("*.md")} - {
    "docs/gallery/hills.md",  # one fit each
    "docs/gallery/sensor.md",
}
HERE = [page for page in PAGES if str(page.relative_to(ROOT)) not in ELSEWHERE and any(blocks(page))]


def test_all_that_is_not_run_says_why():
    marks = [found["mark"] for page in PAGES for found in BLOCK.finditer(page.read_text(encoding="utf-8"))]
    assert not [mark for mark in marks if mark and mark.startswith("not run") and not re.match(r"not run: \w", mark)]


@pytest.mark.parametrize("page", ELSEWHERE)
def test_a_page_that_is_run_elsewhere_is(page):
    for test in ELSEWHERE[page]:
        assert Path(page).name in (ROOT / "tests" / test).read_text(encoding="utf-8")


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=name, marks=[pytest.mark.slow] if name in SLOW else [])
        for page, name in ((page, str(page.relative_to(ROOT))) for page in HERE)
    ],
)
def test_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for kind, code, line in blocks(page):
        if kind == "sh":
            subprocess.run(["bash", "-euo", "pipefail", "-c", code], check=True, timeout=300)
        else:
            exec(compile("\n" * line + code, str(page), "exec"), names)


def test_readme_is_one_screen():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count("\n") <= 150
    assert len(text.split()) <= 1200


def whole(page):
    """A page with what it includes in its place."""
    text = page.read_text(encoding="utf-8")
    return INCLUDE.sub(lambda found: whole(page.parent / found["path"]), text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_has_a_title_and_links_that_say_where_they_lead(page):
    text = whole(page)
    assert re.match(r"# (?!None\b)\S", text)
    assert "[None](" not in CODE.sub("", text)


def test_what_a_page_installs_of_ours_has_the_versions_that_were_tested():
    """And with them the CPU's build of torch, wherever pip sees it: the newest may be there for a GPU alone."""
    texts = [page.read_text(encoding="utf-8") for page in [*PAGES, ROOT / "CONTRIBUTING.md"]]
    ours = [line for text in texts for line in re.findall(r"pip install [^`\n]*'?\.(?:\[[^`\n]*|`)", text)]
    assert len(ours) > 8
    others = ["pip install .`", "pip install --no-deps -e .`"]  # of a problem of one's own; of no library
    assert sorted(set(line for line in ours if "-c constraints.txt" not in line)) == sorted(others)


def anchors(page):
    """The anchors of a page's headings, as MyST and GitHub make them."""
    prose = re.sub(r"^```.*?^```", "", whole(page), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", title).lower()).replace(" ", "-") for title in titles}


def test_links_between_pages_lead_somewhere():
    assert len(RECORDS) > 10
    broken = []
    for page in [*PAGES, *RECORDS]:
        prose = CODE.sub("", page.read_text(encoding="utf-8"))
        for target in re.findall(r"\]\((?!https?:|mailto:)([^)\s]+)", prose):
            path, _, anchor = target.partition("#")
            to = page.parent / path if path else page
            if not to.exists() or (anchor and to.suffix == ".md" and anchor not in anchors(to)):
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert not broken
