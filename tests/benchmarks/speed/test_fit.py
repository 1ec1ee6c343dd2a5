import itertools

import pytest


@pytest.fixture(scope="module")
def speed_fit(load):
    return load("speed.fit")


def test_a_level_is_reached_within_the_tolerance(speed_fit):
    ours, theirs = {0: -5.0, 2: 1.0, 4: 3.0}, {0: -5.005, 2: 1.5, 4: 3.0, 6: 9.0}
    assert speed_fit.num_matched_levels(ours, theirs) == 2


def test_both_directions_report_a_density_a_level(speed_fit):
    row, levels = speed_fit.compare("branin", 12, 0, 1, with_botorch=False)
    assert min(row[f"{name}_s"] for name in ("backward", "forward", "default")) > 0
    assert [level["size"] for level in levels] == sorted({int(f * 12) for f in speed_fit.FRACTIONS_OF_OUTLIERS})
    densities = [level["backward"] for level in levels]
    assert all(more >= less - 0.01 for less, more in itertools.pairwise(densities))
    assert all(level["botorch"] == "" for level in levels)


def test_the_mean_of_all_gives_each_function_and_size_one_vote(speed_fit):
    rows = [
        {"function": name, "n": 50, "seed": seed, "backward_ratio": r, "default_ratio": 1.0, "backward_reached": 9}
        | {"levels": 10}
        for name, seed, r in (("levy", 0, 100.0), ("levy", 1, 100.0), ("branin", 0, 1.0))
    ]
    found = speed_fit.summary([*rows, rows[0] | {"n": 500, "levels": ""}]).set_index("of")
    assert found["same_model"].round(6).to_dict() == {"levy": 100, "branin": 1, "n = 50": 10, "all": 10}
    assert found["reached"]["all"] == 27
