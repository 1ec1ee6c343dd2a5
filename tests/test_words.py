"""Names and docstrings say what things are: no placeholder, no participle for a function, no clause for a docstring."""

from pathlib import Path

import pytest

from tests import words

ROOT = Path(__file__).parents[1]
CODE = [ROOT / "robustbo", ROOT / "problems", ROOT / "benchmarks"]


@pytest.fixture(scope="module")
def all_words():
    return [word for place in CODE for path in words.files_of(place) for word in words.words_of(path)]


@pytest.mark.parametrize("rule", ["name", "function", "docstring"])
def test_no_word_is_refused(rule, all_words):
    assert len([word for word in all_words if word.rule == rule]) > 3000
    refused = [word for word in all_words if word.rule == rule and word.is_refused]
    assert [f"{word.path.relative_to(ROOT)}:{word.line}: {word.scope}: {word.text}" for word in refused] == []


@pytest.mark.parametrize(
    ("name", "is_refused"),
    [
        ("told", True),
        ("given_out", True),
        ("_begun", True),
        ("wanted_again", True),
        ("values_told", True),
        ("rising", True),
        ("fit_surrogate", False),
        ("posterior_mean", False),
        ("expected_improvement", False),
        ("is_taken", False),
        ("num_failed", False),
        ("read", False),
        ("feed", False),
        ("setting", False),
    ],
)
def test_functions_named_by_a_participle(name, is_refused):
    assert words.is_named_by_participle(name) == is_refused


@pytest.mark.parametrize(
    ("docstring", "is_refused"),
    [
        ("What nobody has measured.", True),
        ("Whether a value is flagged.", True),
        ("The same of several outcomes.", True),
        ("Return whether a value is flagged.", False),
        ("The same points in another order, as rows.", True),
        ("Points not yet measured.", False),
        ("", False),
    ],
)
def test_docstrings_that_open_without_a_noun(docstring, is_refused):
    assert words.has_no_noun(docstring) == is_refused


def test_bound_names_are_counted_once_a_scope_wherever_they_are_bound(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(
        "found = 1\n\n\ndef read(kept):\n    found = [each for each in kept]\n    found = 2\n    return found\n"
        "\n\nclass Reader:\n    told = 3\n"
    )
    refused = [(word.scope, word.text) for word in words.words_of(path) if word.is_refused]
    assert sorted(refused) == [("-", "found"), ("read", "each"), ("read", "found"), ("read", "kept")]
