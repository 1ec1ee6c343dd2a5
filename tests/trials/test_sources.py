"""Labels of sources: what is taken, what is left out, what is refused."""

from datetime import date

import numpy as np
import pandas as pd
import pytest

from robustbo import limits
from robustbo.trials.sources import kinds_of, labels_to_record


@pytest.mark.parametrize(
    ("source", "labels"),
    [
        (None, {}),
        ("R3", {"source": "R3"}),
        (7, {"source": "7"}),
        ({"reactor": "R3", "operator": "B"}, {"reactor": "R3", "operator": "B"}),
        ({" reactor ": " R3 "}, {"reactor": "R3"}),
        ({"plate": np.int64(7), "day": date(2026, 11, 28)}, {"plate": "7", "day": "2026-11-28"}),
        ({"plate": 7.0, "reactor": float("nan"), "operator": None, "day": pd.NaT, "lamp": ""}, {"plate": "7"}),
    ],
)
def test_labels_are_texts_by_kind(source, labels):
    assert labels_to_record(source) == labels


@pytest.mark.parametrize(
    ("source", "error", "words"),
    [
        (1.5, TypeError, "must be a text"),
        (True, TypeError, "must be a text"),
        ({3: "R3"}, TypeError, "a kind of source must be a text"),
        ({"": "R3"}, ValueError, "must have a name"),
        ({"a=b": "R3"}, ValueError, 'without "="'),
        ("R3\n", ValueError, "on one line"),
        ("R\x1b[2J", ValueError, "control characters"),
        ("R" * (limits.SOURCE_CHARACTERS + 1), ValueError, "at most 200 characters, got 201"),
        ({"k" * (limits.SOURCE_CHARACTERS + 1): "R"}, ValueError, "at most 200 characters, got 201"),
        ({f"k{i}": "R" for i in range(limits.SOURCE_KINDS + 1)}, ValueError, "at most 20 kinds, got 21"),
    ],
)
def test_what_is_no_short_text_is_refused(source, error, words):
    with pytest.raises(error, match=words):
        labels_to_record(source)


def test_blocks_are_a_list_of_kinds():
    assert kinds_of(["plate", "day", "plate"]) == ("plate", "day")
    with pytest.raises(TypeError, match="must be a list"):
        kinds_of("plate")
    with pytest.raises(ValueError, match="at most 20"):
        kinds_of([f"k{i}" for i in range(21)])
