"""Each equation that the code cites is in docs/equations.md, once; sections too."""

import re
from collections import Counter
from pathlib import Path

import robustbo

PACKAGE = Path(robustbo.__file__).parent
PAGE = (Path(__file__).parents[1] / "docs" / "equations.md").read_text(encoding="utf-8")
NUMBERS = Counter(re.findall(r"\((\d+(?:\.\d+)+)\)$", PAGE, flags=re.MULTILINE))
SECTIONS = set(re.findall(r"^#+ (\d+(?:\.\d+)?)\.? ", PAGE, flags=re.MULTILINE))
# Steps of derivations, restatements, and what a library evaluates: no line of ours is one of these.
NOWHERE = {
    "2.2.3",
    "2.2.4",
    "2.2.5",
    "2.4.2",
    "4.3",
    "4.5",
    "4.8",
    "5.3",
    "5.10",
    "5.12",
    "6.6",
    "7.1",
    "7.4",
    "8.1",
    "8.5",
}
CODE = {f: f.read_text(encoding="utf-8") for f in sorted(PACKAGE.rglob("*.py"))}


def test_equations_are_numbered_once_and_in_order_within_their_section():
    assert set(NUMBERS.values()) == {1}
    counted = Counter(number.rpartition(".")[0] for number in NUMBERS)
    assert set(counted) <= SECTIONS
    assert set(NUMBERS) == {f"{section}.{i}" for section, count in counted.items() for i in range(1, count + 1)}


def test_each_equation_that_the_code_cites_is_there():
    cited = [(f.name, number) for f, text in CODE.items() for number in re.findall(r"\beq\. (\d+(?:\.\d+)*)", text)]
    assert set(NUMBERS) - {number for _, number in cited} == NOWHERE
    assert not [(name, number) for name, number in cited if number not in NUMBERS]


def test_each_section_that_the_code_cites_is_there():
    passages = [(f.name, passage) for f, text in CODE.items() for passage in re.findall(CITATION, text)]
    assert len(passages) > 20
    named = [(name, section) for name, passage in passages for section in re.findall(r"\d+(?:\.\d+)?", passage)]
    assert not [(name, section) for name, section in named if section not in SECTIONS]


CITATION = r"equations\.md\s+sections?\s+((?:\d+(?:\.\d+)?(?:,\s+|\s+and\s+)?)+)"
