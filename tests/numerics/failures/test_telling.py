import numpy as np
import pytest

from robustbo.numerics.failures.telling import most_informative

Z = np.random.default_rng(0).random((500, 2))
IS_OK = Z.sum(1) < 1.0


def test_a_shorter_list_is_the_beginning_of_a_longer_one():
    assert most_informative(Z, IS_OK, 20).tolist() == most_informative(Z, IS_OK, 60)[:20].tolist()


@pytest.mark.parametrize("apart", [1.0, 1e-200])  # whose squares are 0
def test_no_place_is_chosen_twice_and_all_are_in_the_end(apart):
    assert sorted(most_informative(apart * Z[:50], IS_OK[:50], 80)) == [*range(50)]


def test_they_crowd_along_the_boundary_and_leave_nothing_uncovered():
    chosen = most_informative(Z, IS_OK, 60)
    is_near = np.abs(Z.sum(1) - 1) < 0.1
    assert is_near[chosen].mean() > 1.5 * is_near.mean()
    assert np.linalg.norm(Z[:, None] - Z[chosen], axis=-1).min(1).max() < 0.2


def test_what_the_nearest_chosen_place_says_is_true_of_nearly_all():
    chosen = most_informative(Z, IS_OK, 60)
    nearest = chosen[np.linalg.norm(Z[:, None] - Z[chosen], axis=-1).argmin(1)]
    assert (IS_OK[nearest] == IS_OK).mean() > 0.97


@pytest.mark.parametrize("failure", [3, 77, 499])
def test_a_lone_failure_is_among_them(failure):
    assert failure in most_informative(Z, np.arange(500) != failure, 60)
