import math

import pytest

from robustbo.numerics.gp.replicates import Groups
from robustbo.numerics.pursuit import penalty


def test_no_outlier_costs_nothing_and_more_cost_more():
    for rule in (penalty.corrected_rule(50, 9), penalty.of_rate(50, 9, 0.3), penalty.botorch(50)):
        prices = [rule(k) for k in range(20)]
        assert prices[0] == 0.0
        assert prices == sorted(prices)


def test_the_correction_vanishes_with_many_observations_and_forbids_with_few():
    assert penalty.corrected_rule(10**6, 9)(1) == pytest.approx(penalty.PER_OUTLIER, rel=1e-4)
    assert penalty.corrected_rule(20, 9)(1) > 1.4 * penalty.PER_OUTLIER
    assert penalty.corrected_rule(5, 9)(1) == math.inf


def test_botorchs_rule_costs_five_nats_and_the_papers_a_fraction():
    assert penalty.botorch(100)(3) == 15.0
    assert penalty.paper(100)(3) == 3 / 20
    assert penalty.botorch(3)(1) == 3.0  # n < 5, where BoTorch itself fails


def test_a_higher_rate_makes_outliers_cheaper():
    assert penalty.of_rate(100, 9, 0.4)(5) < penalty.of_rate(100, 9, 0.1)(5) == penalty.corrected_rule(100, 9)(5)


def test_a_known_number_beats_any_likelihood():
    assert [penalty.exactly(2)(k) for k in (0, 1, 2, 3)] == [2e9, 1e9, 0.0, 1e9]


class TestPrice:
    price = penalty.Penalty(lambda k: 3.0 * k * k, Groups(((0, 1, 2), (5, 6, 7))))

    def test_where_all_are_alone_it_is_the_rule(self):
        alone = penalty.Penalty(self.price.by_size)
        assert [alone.total(range(k)) for k in range(5)] == [self.price.by_size(k) for k in range(5)]
        assert alone.prices([3], 5).tolist() == [9.0, 9.0, 9.0, 3.0, 9.0]
        assert alone.of_another([3]) == 9.0

    def test_a_group_counts_once_and_its_others_a_little(self):
        assert self.price.total([0]) == 3.0 + 2 * penalty.ALIKE
        assert self.price.total([0, 3, 5]) == 27.0 + 4 * penalty.ALIKE

    @pytest.mark.parametrize("support", [[], [0], [3], [0, 5], [0, 3, 4, 5]])
    def test_the_price_of_one_is_a_difference_of_totals(self, support):
        prices = self.price.prices(support, 9)
        for i in (0, 3, 4, 5, 8):
            more, less = sorted({*support, i}), sorted({*support} - {i})
            assert prices[i] == pytest.approx(self.price.total(more) - self.price.total(less))
