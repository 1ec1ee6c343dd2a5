import pytest

from tests import skips


def skipped(reason):
    """The outcome of a test that was skipped for that reason."""
    where = ("test_x.py", 1, f"Skipped: {reason}")
    return skips.judged(pytest.TestReport("x", where, {}, "skipped", where, "call")).outcome


def test_reasons_that_are_listed_are_accepted_and_no_others():
    assert skipped("root may read everything") == "skipped"
    assert skipped("could not import 'ax': No module named 'ax'") == skipped("not today") == "failed"


def test_what_is_expected_to_fail_is_no_skip():
    report = pytest.TestReport("x", ("test_x.py", 1, "x"), {}, "skipped", "known", "call", wasxfail="known")
    assert skips.judged(report).outcome == "skipped"
