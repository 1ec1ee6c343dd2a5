import itertools
import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal


@pytest.fixture(scope="module")
def reference(load):
    return load("quality.exact_reference")


@pytest.fixture(scope="module")
def exact(load):
    return load("quality.exact")


X, Z = np.array([[0.1], [0.35], [0.6], [0.9]]), np.array([0.2, 0.5, 4.0, -0.3])


def dense(reference, errors, step, X, z):
    """The same by sums over states, the grid, the signal and the mean, each density being that of all values."""
    n, prior = len(z), reference.length_scale_prior(1)
    log_l, of_l = reference.grid_axis(*reference.LOG_L, step)
    log_g, of_g = reference.grid_axis(*reference.LOG_G, step)
    log_s2f = np.arange(reference.LOG_S2F[0], reference.LOG_S2F[1] + 1e-9, reference.STEP_S2F)
    total, wrong = 0.0, np.zeros(n)
    for states in itertools.product(range(len(errors.states)), repeat=n):
        of = [errors.states[state] for state in states]
        rows = [i for i in range(n) if math.isfinite(of[i].multiplier)]
        if len(rows) < n - n // 2:
            continue
        counts = [states.count(k) for k in range(len(errors.states))]
        front = errors.log_prior(counts) + sum(math.log(state.share) for state in of)
        front += sum(of[i].log_density(z)[i] for i in range(n) if i not in rows)
        for (l, a), (g, b), s2f in itertools.product(
            zip(log_l, of_l, strict=True), zip(log_g, of_g, strict=True), log_s2f
        ):
            priors = [(l, *prior), (s2f, *reference.SIGNAL_PRIOR), (g + s2f, *reference.NOISE_PRIOR)]
            log_prior = sum(-0.5 * ((x - loc) / scale) ** 2 for x, loc, scale in priors)
            K = reference.matern52(X[rows], X[rows], np.exp([[l]]))[0]
            S = math.exp(s2f) * (K + math.exp(g) * np.diag([of[i].multiplier for i in rows]))
            density = multivariate_normal(np.zeros(len(rows)), S + reference.MEAN_VARIANCE).logpdf(z[rows])
            weight = a * b * math.exp(front + log_prior + density)
            total += weight
            wrong += weight * np.array([state.is_wrong for state in of])
    return wrong / total


@pytest.fixture(scope="module")
def errors(load):
    return load("quality.exact_errors")


@pytest.mark.few(2)
@pytest.mark.parametrize(("of", "n"), [("known", 4), ("heavy", 3), ("belief", 2)])
def test_the_enumeration_is_the_sum_over_all_densities(reference, errors, of, n):
    models = {
        "known": errors.error_model(errors.fixed_rate(0.1)),
        "heavy": errors.error_model(errors.beta_rate(1, 9), (1.0, 9.0), (0.9, 0.1)),
        "belief": errors.belief(0.2),
    }
    exact = reference.exact_probabilities(X[:n], Z[:n], models[of], step=5.0)
    np.testing.assert_allclose(exact, dense(reference, models[of], 5.0, X[:n], Z[:n]), atol=2e-4)


def test_the_grid_is_fine_enough(reference, errors, exact):
    draw = exact.draw_data(exact.Cell(7, 1, 0.25, 1))
    y = (draw.y - np.median(draw.y)) / draw.y.std()
    model = errors.error_model(errors.fixed_rate(0.1))
    coarse, fine = (reference.exact_probabilities(draw.X, y, model, step) for step in (0.5, 0.25))
    np.testing.assert_allclose(coarse, fine, atol=2e-3)


@pytest.mark.few(1)
@pytest.mark.parametrize("n", [6, 9])
def test_what_is_said_is_nearly_exact(exact, n):
    """Of few values by enumeration, of more by many draws; some are doubtful."""
    rows = exact.pd.DataFrame(exact.compare(exact.Cell(n, 1, 0.25, 2), effort=10))
    assert (rows["said"] - rows["exact"]).abs().mean() < 0.05
    assert rows["exact"].max() > 0.1


def test_a_comparison_has_a_row_a_value_and_a_table(exact):
    rows = exact.pd.DataFrame(exact.compare(exact.Cell(9, 1, 0.1, 0), effort=2))
    assert len(rows) == 9
    assert rows["is_wrong"].sum() == 1
    assert rows[["said", "exact"]].stack().between(0, 1).all()
    assert exact.compare_table(rows)["of"].tolist() == ["9 values", "rate 0.1", "all"]


def test_coverage_has_a_row_a_method(exact):
    rows = exact.pd.DataFrame(exact.cover(exact.Cell(7, 2, 0.0, 0)))
    assert rows["method"].tolist() == ["relevance-pursuit", "student-t", "standard", "told length-scales"]
    assert rows["covered"].between(0, 1).all()


def test_a_table_of_coverage_has_means_and_their_errors(exact):
    rows = exact.pd.DataFrame(
        [{"d": 2, "n": 10, "rate": 0.0, "method": "m", "covered": c, "nlpd": 1.0} for c in (0.5, 1.0)]
    )
    (row,) = exact.cover_table(rows).to_dict("records")
    assert (row["covered"], row["covered_error"], row["nlpd_error"]) == pytest.approx((0.75, 0.25, 0.0))
