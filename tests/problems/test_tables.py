"""Tables of measurements as problems, and their repeats as what trials measure."""

import gzip

import numpy as np
import pytest

from robustbo.errors import DataError
from robustbo.replay.spec.optimization import RunSpec
from robustbo.tasks.corruption import build
from robustbo.tasks.problem import load
from robustbo_problems.tables import SHIPPED, crossed_barrel, hplc, table


def test_the_true_value_is_the_median_of_the_repeats():
    made = table()
    assert made.space.size == 9
    assert made({"acid": "HCl", "pH": 2.0}) == 44.9
    assert made({"acid": "H2SO4", "pH": 2.0}) == pytest.approx(35.8)
    assert (made.optimum, dict(made.optimizer)) == (60.1, {"acid": "HNO3", "pH": 3.0})


def test_columns_and_the_direction_can_be_chosen(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("loss,x,batch\n3,1,a\n1,2,a\n2,2,b\n")
    made = load("table", file=str(path), inputs=["x"], value="loss", direction="minimize")
    assert (made.space.names, made.optimum, made.best) == (["x"], 1.5, ("optimum", 1.5))


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("x,y\n1,2\n2,oops\n", {}, r"y must be a finite number in every row, got 'oops' in row 1"),
        ("x,y\n1,2\n2,3\n", {"value": "z"}, r"must have the column 'z', got \['x', 'y'\]"),
        ("", {}, "must be a CSV file"),
    ],
)
def test_a_file_that_will_not_do_is_an_error(tmp_path, text, options, message):
    path = tmp_path / "mine.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        table(str(path), **options)


def test_a_copy_that_is_missing_cut_or_another_is_an_error(tmp_path):
    with pytest.raises(DataError, match=r"none\.csv: no such file exists"):
        table(str(tmp_path / "none.csv"))
    other, cut = tmp_path / "other.csv", tmp_path / "cut.csv.gz"
    other.write_text("n,toughness\n1,2\n")
    for published, digest in ((crossed_barrel, "2c01f8"), (hplc, "9c9422")):
        shipped = SHIPPED / f"{published.__name__}.csv.gz"
        cut.write_bytes(shipped.read_bytes()[:-100])
        for path, said in ((tmp_path / "none.csv", "there is no such file"), (cut, "must be a whole gzip file")):
            with pytest.raises(DataError, match=f"{path.name}: {said}.*leave data out"):
                published(str(path))
        with pytest.raises(DataError, match=f"its content must have the SHA-256 {digest}"):
            published(str(other))
        other_copy = tmp_path / "copy.csv"
        other_copy.write_bytes(gzip.decompress(shipped.read_bytes()))
        assert published(str(other_copy)).space.size == published().space.size


def test_every_repeat_is_measured_before_one_is_again():
    made = table()
    params = {"acid": "HCl", "pH": 2.0}
    spec = RunSpec.model_validate(
        {"problem": "table", "corruption": {"kind": "repeats"}, "methods": ["standard"], "trials": 5, "replications": 1}
    )
    corruption = spec.build_corruption()

    def measured(root, number, asked):
        return spec.measure(corruption, params, made(params), root=root, number=number, num_earlier=asked)

    first = [measured(0, 10 + asked, asked) for asked in range(4)]
    assert sorted(value for value, _ in first[:3]) == [12.3, 44.9, 46.0]
    assert first[3] == first[0]
    assert not any(is_corrupted for _, is_corrupted in first)
    assert measured(0, 7, 0) == first[0]  # whenever it is asked for
    assert len({measured(root, 0, 0)[0] for root in range(20)}) == 3


def test_a_mix_up_is_a_value_of_another_point():
    made = table()
    corruption = build("repeats", made, probability=1.0)
    params = {"acid": "HCl", "pH": 1.0}
    drawn = [corruption.apply(0.0, params, np.random.default_rng(seed)) for seed in range(60)]
    assert all(is_corrupted for _, is_corrupted in drawn)
    every = {value for i in range(9) for value in made.repeats(made.space.point(i))}
    assert {value for value, _ in drawn} <= every
    assert len({value for value, _ in drawn}) > 5


def test_a_problem_without_repeats_has_none_to_draw():
    with pytest.raises(ValueError, match="repeats needs a problem with repeats, such as a table; branin has none"):
        build("repeats", load("branin"))
    with pytest.raises(ValueError, match=r"repeats has the options \['probability'\], got 'asked'"):
        build("repeats", table(), asked=3)


def test_the_barrels_are_600_points_of_three():
    made = crossed_barrel()
    assert made.space.size == 600
    assert all(len(made.repeats(made.space.point(i))) == 3 for i in range(600))
    assert made(made.optimizer) == made.optimum == pytest.approx(50.29, abs=0.01)


def test_the_injections_are_1007_points_of_which_379_have_two():
    made = hplc()
    values = [made.repeats(made.space.point(i)) for i in range(made.space.size)]
    assert (len(values), sum(len(each) == 2 for each in values), sum(map(len, values))) == (1007, 379, 1386)
    assert made.space.names[0] == "sample_loop"
    assert sum(value == 0 for each in values for value in each) == 229
    assert made(made.optimizer) == made.optimum == pytest.approx(2372.24, abs=0.01)
    assert all(made(made.space.point(i)) == pytest.approx(np.mean(each)) for i, each in enumerate(values))


def test_an_injection_is_made_again_where_there_is_another():
    made = hplc()
    params = next(p for p in map(made.space.point, range(1007)) if len(set(made.repeats(p))) == 2)
    corruption = build("repeats", made)
    drawn = [corruption.at(3, asked).apply(0.0, params, np.random.default_rng(0)) for asked in range(2)]
    assert sorted(value for value, _ in drawn) == sorted(made.repeats(params))
    assert not any(is_corrupted for _, is_corrupted in drawn)
