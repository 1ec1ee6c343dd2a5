"""Pages, docstrings and messages keep to the rules of writing in CONTRIBUTING.md, as far as patterns can tell."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INSTEAD = {  # what a native speaker stumbles over, and what to write
    r"unless (?:said|given)\b": "by default",
    r"\bto be had\b": "available",
    r"(?<!!= )\bbut for\b(?! many chains)": "except for",
    r"\b(?:is|are) said of\b": "is for, or: name the actor",
    r"\bin the place of\b": "in place of, instead of",
    r"\bcame to nothing\b": "failed",
    r"\bas a matter of course\b": "as expected",
    r"\bleave \S+ away\b": "leave out, omit",
    r"\bis not to be\b": "cannot be, must not be",
    r"^(?:[-*] )?Of (?!course|the|these|those|all|two|three|\d)": "begin with the subject",
}
OWN = {"docs/changelog.md", "docs/equations.md", "CONTRIBUTING.md"}  # the past; mathematics; the rules themselves
WRITTEN = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("runs/**/*.md")]
PAGES = [p for p in WRITTEN if str(p.relative_to(ROOT)) not in OWN]
MODULES = [
    p for p in ROOT.glob("robustbo/**/*.py") if not {"numerics", "serve"} & {*p.parts}
]  # whose readers have a paper open


ANY = re.compile("|".join(f"({pattern})" for pattern in INSTEAD), re.M)  # one pass over a file: they are many


def stumbles(text):
    """Each place with a pattern, and what to write there."""
    for found in ANY.finditer(text):
        instead = [*INSTEAD.values()][found.lastindex - 1]
        yield f"{text.count(chr(10), 0, found.start()) + 1}: {found[0]!r}; write {instead!r}"


@pytest.mark.parametrize("files", [PAGES, MODULES], ids=["pages", "modules"])
def test_nobody_stumbles(files):
    assert len(files) > 50
    lines = [f"{p.relative_to(ROOT)}:{line}" for p in files for line in stumbles(p.read_text(encoding="utf-8"))]
    assert lines == []


@pytest.mark.parametrize(
    ("line", "is_refused"),
    [
        ("The seed is drawn unless said.", True),
        ("Of a failure the reason is in the journal.", True),
        ("- Of several outcomes each has a surrogate.", True),
        ("Of the 20 trials, two failed.", False),
        ("All but four agree, as drawn.", False),
        ("The seed is drawn by default.", False),
    ],
)
def test_what_a_pattern_is_for(line, is_refused):
    assert bool([*stumbles(line)]) == is_refused
