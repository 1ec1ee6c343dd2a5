import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def scores(load):
    return load("league.scores")


@pytest.fixture(scope="module")
def page(load):
    return load("league.page")


def rows_of(shifts, replications=6, settings=("clean",), problems=("branin", "powell"), seed=0):
    """Rows of methods whose regret lies above a shared luck by as much as is said, and a little of its own."""
    generator, rows = np.random.default_rng(seed), []
    for setting in settings:
        for problem in problems:
            for replication in range(replications):
                luck = generator.normal()
                for method, shift in shifts.items():
                    regret = luck + shift + 0.05 * generator.normal()
                    rows.append({"setting": setting, "problem": problem, "replication": replication, "method": method})
                    rows[-1] |= {f"regret_{n}": regret for n in (30, 60, 100)} | {"ask_s": 0.1, "drawn": 0}
                    rows[-1] |= {"refused": 0, "cannot": ""}
    return pd.DataFrame(rows)


def test_ranks_and_paired_differences(scores):
    table = scores.setting_scores(rows_of({"default": 0.0, "cma": 1.0, "random": 2.0, "oracle": -1.0}))
    assert list(table["method"]) == ["default", "cma", "random", "oracle"]
    assert list(table["rank"][:3]) == [1, 2, 3]
    assert np.isnan(table["rank"][3])  # no user is an oracle
    assert list(table["difference"][1:]) == pytest.approx([1, 2, -1], abs=0.1)
    assert table["error"][1] < 0.05  # the luck is shared
    assert (table["problems"] == 2).all()
    assert (table["replications"] == 6).all()


def test_a_table_of_fewer_than_five_replications_is_not_shown(scores, page):
    rows = rows_of({"default": 0.0, "cma": 1.0}, replications=4)
    assert scores.all_scores(rows) == {}
    assert page.markdown(rows) == page.NOTHING
    more = pd.concat([rows_of({"default": 0.0, "cma": 1.0}), rows_of({"hebo": 0.0}, replications=4)])
    assert set(scores.setting_scores(more)["method"]) == {"default", "cma"}
    half = more[(more["method"] != "cma") | (more["problem"] == "branin")]
    assert scores.setting_scores(half).empty  # one method alone has both problems


def test_a_problem_that_a_method_cannot_search_is_left_out(scores, page):
    rows = rows_of({"default": 0.0, "cma": 1.0})
    is_hit = (rows["method"] == "cma") & (rows["problem"] == "powell")
    rows.loc[is_hit, ["regret_30", "regret_60", "regret_100"]] = np.nan
    rows.loc[is_hit, "cannot"] = "no sums"
    table = scores.setting_scores(rows)
    assert set(table["method"]) == {"default", "cma"}
    assert (table["problems"] == 1).all()
    assert "`cma` cannot search powell: no sums" in page.markdown(rows)


def test_functions_and_data_have_tables_of_their_own(scores, page):
    functions = rows_of({"default": 0.0, "cma": 1.0, "ax": 2.0})
    data = rows_of({"default": 0.0, "cma": 1.0}, problems=("svr", "hplc"))
    tables = {
        which.name: [*table["method"]] for which, table in scores.all_scores(pd.concat([functions, data])).items()
    }
    assert tables == {"clean": ["default", "cma", "ax"], "clean, data": ["default", "cma"]}
    assert "### clean, data: exact values" in page.markdown(pd.concat([functions, data]))


def test_holm_corrects_for_all_comparisons(scores):
    corrected = scores.holm(np.array([0.01, np.nan, 0.04, 0.03]))
    assert corrected[[0, 2, 3]] == pytest.approx([0.03, 0.06, 0.06])
    assert np.isnan(corrected[1])
    assert len(scores.holm(np.empty(0))) == 0


def test_the_page_has_a_table_a_setting_and_says_what_is_missing(scores, page):
    rows = rows_of({"default": 0.0, "cma": 0.001, "random": 2.0}, settings=("clean", "any-5"))
    text = page.markdown(rows)
    assert text.count("| method | rank |") == 2
    assert "for all 4 comparisons" in text
    (random_row,) = [line for line in text.split("### any-5")[1].splitlines() if line.startswith("| `random`")]
    assert "\\*" in random_row
    assert "Too little is recorded of noise-5" in text


def test_the_least_regret(load, scores):
    plan = load("league.plan")
    assert scores.floor_of("branin") == pytest.approx(1e-8 * plan.problem_of("branin").sample.std())
    assert scores.floor_of("rover") == pytest.approx(1e-3 * plan.problem_of("rover").sample.std())
    assert scores.floor_of("hplc") > 0  # over all rows of the pool


def test_regret_is_from_the_best_that_anybody_has_seen(load, scores):
    plan = load("league.plan")
    known, seen = plan.problem_of("branin").optimum, plan.problem_of("rover").best_seen
    rows = pd.DataFrame({"problem": ["branin", "branin", "rover", "rover"], "least": 1e-3, "value_30": np.nan})
    rows = rows.assign(value_60=np.nan, value_100=[known, known + 0.1, seen - 1.0, seen + 9.0])  # which is maximized
    assert list(scores.with_regrets(rows)["regret_100"]) == pytest.approx([-3, -1, 1, -3])
    assert scores.with_regrets(rows)["regret_30"].isna().all()


def test_the_picture_is_drawn_where_there_is_something_to_show(page, tmp_path):
    page.draw(rows_of({"default": 0.0, "cma": 1.0}, replications=4), tmp_path / "none.png")
    assert not (tmp_path / "none.png").exists()
    page.draw(rows_of({"default": 0.0, "cma": 1.0, "oracle": -1.0}), tmp_path / "league.png")
    assert (tmp_path / "league.png").stat().st_size > 5000
