"""Rows of a table that are the same as others: said, unless they may be replicates that happen to agree."""

import pandas as pd
import pytest

import robustbo as rb

SPACE = rb.Space(x=rb.Float(0, 1))
TABLE = pd.DataFrame({"x": [0.1, 0.2, 0.3, 0.3], "value": [1.0, 2.0, 3.0, 3.1], "day": ["Mon", "Tue", "Tue", "Wed"]})
COPIED = r" rows are the same as another row in all columns: .* a wrong value confirms itself"


def tell_as_prior(table):
    return rb.Optimizer(SPACE, direction="minimize", seed=0, prior_data=table)


def tell_as_frame(table):
    opt = rb.Optimizer(SPACE, direction="minimize", seed=0)
    opt.tell_frame(table, labels=True)
    return opt


@pytest.mark.parametrize("told", [tell_as_prior, tell_as_frame])
def test_rows_that_are_copied_are_said(told):
    for table, copies in ((TABLE, 4), (TABLE[:1], 1), (TABLE.drop(columns="day"), 4)):
        both = pd.concat([TABLE[table.columns], table], ignore_index=True)
        with pytest.warns(rb.SpaceWarning, match=f"^{copies} of {len(both)}{COPIED}"):
            opt = told(both)
        assert len(opt.history) == len(both)  # nothing is lost


@pytest.mark.parametrize("told", [tell_as_prior, tell_as_frame])
def test_rows_that_are_pasted_again_are_said_where_values_hardly_ever_agree(told):
    table = pd.DataFrame({"x": [i / 20 for i in range(20)], "value": [10 + i * i / 7 for i in range(20)]})
    replicated = pd.DataFrame({"x": [0.0, 0.05], "value": [10.2, 10.1]})
    with pytest.warns(rb.SpaceWarning, match=f"^4 of 26{COPIED}"):
        told(pd.concat([table, table[:4], replicated], ignore_index=True))


def test_a_table_told_again_is_known_after_an_amendment_and_a_correction():
    opt = tell_as_frame(TABLE)
    opt.amend(0, 7.0)
    opt.correct(since=0, error=0.5)
    with pytest.warns(rb.SpaceWarning, match="4 of 4 rows are in this study already, with the same values"):
        opt.tell_frame(TABLE, labels=True)


@pytest.mark.filterwarnings("error::robustbo.SpaceWarning")
@pytest.mark.parametrize("told", [tell_as_prior, tell_as_frame])
def test_counts_that_agree_are_none(told):
    told(pd.DataFrame({"x": [0.1, 0.2, 0.3, 0.4] * 3, "value": [14, 11, 14, 9, 14, 11, 10, 9, 12, 13, 14, 9]}))


@pytest.mark.filterwarnings("error::robustbo.SpaceWarning")
@pytest.mark.parametrize("told", [tell_as_prior, tell_as_frame])
def test_replicates_that_may_agree_are_none(told):
    plain = TABLE.drop(columns="day")
    told(pd.concat([plain, plain[:1]], ignore_index=True))  # nothing would tell them apart
    told(pd.concat([TABLE, TABLE[:1].assign(day="Thu")], ignore_index=True))
    told(pd.DataFrame({"x": [0.5, 0.5, 0.7], "value": [None, None, 1.0]}))  # two that failed
    told(pd.DataFrame({"x": [0.5, 0.5], "value": [3.0, 3.0]}))
    told(pd.DataFrame({"x": [0.5, 0.1] * 10, "value": [0.0, 1.0, 1.0, 1.0] * 5}))  # pass or fail
    told(pd.DataFrame({"x": [0.5, 0.5, 0.1, 0.2, 0.3], "value": [3.0, 3.0, 1.0, 2.0, 5.0], "sd": [1, 1, 2, 1, 2]}))


@pytest.mark.filterwarnings("ignore:column 'n' is read as how many measurements")
@pytest.mark.parametrize(
    ("column", "counts", "labels"),
    [
        ([9, 4, 4], [9, 4, 4], [None] * 3),
        ([3, None, 2], [3, 1, 2], [None] * 3),
        ([1, 2, 4], [1, 1, 1], [1, 2, 4]),  # it numbers the rows, of which one is left out
        ([1.5, 1.3, 1.4], [1, 1, 1], [1.5, 1.3, 1.4]),  # an index of refraction
        (["two", "x", "y"], [1, 1, 1], ["two", "x", "y"]),
        ([True, False, True], [1, 1, 1], [True, False, True]),
    ],
)
def test_a_column_n_of_prior_data_counts_measurements_if_it_can(column, counts, labels):
    opt = tell_as_prior(pd.DataFrame({"x": [0.1, 0.2, 0.3], "value": [3.0, 4.0, 5.0], "n": column}))
    assert [trial.n for trial in opt.history] == counts
    assert [trial.labels.get("n") for trial in opt.history] == labels


def test_it_is_said_that_a_column_n_counts_measurements():
    table = pd.DataFrame({"x": [0.1, 0.2, 0.3], "value": ["<1", 4.0, 5.0], "n": [2, 4, 4]})
    with pytest.warns(rb.SpaceWarning, match="column 'n' is read as how many measurements each value is the mean of"):
        opt = tell_as_prior(table)
    assert [trial.n for trial in opt.history] == [1, 4, 4]  # a bound is the mean of none


def test_values_that_are_called_n_count_nothing():
    table = pd.DataFrame({"x": [0.1, 0.2, 0.3], "n": [5.0, 6.0, 5.0]})
    outcome = rb.Outcome("n")
    opt = rb.Optimizer(SPACE, direction="minimize", seed=0, outcome=outcome, prior_data=table)
    other = rb.Optimizer(SPACE, direction="minimize", seed=0, outcome=outcome)
    other.tell_frame(table)
    for trials in (opt.history, other.history):
        assert [(trial.value, trial.n, trial.labels) for trial in trials] == [(5.0, 1, {}), (6.0, 1, {}), (5.0, 1, {})]
