import pytest
import torch

from robustbo.numerics.pursuit.support_fit import prefix_rows
from robustbo.surrogates.baselines.standard import PlainGP
from robustbo.surrogates.common.contract import diagnose, fit, quiet
from robustbo.surrogates.filtered import DETECTORS, FilteredGP, last_diagnosis_size


def data(n=30, outliers=(4, 11), magnitude=5.0):
    X = torch.rand(n, 2, generator=torch.Generator().manual_seed(0))
    noise = 0.05 * torch.randn(n, 1, generator=torch.Generator().manual_seed(1))
    Y = torch.sin(6 * X[:, :1]) + X[:, 1:] + noise
    Y[[i for i in outliers if i < n]] += magnitude
    return X, Y


class TestSchedule:
    def test_one_in_so_many_and_none_before_the_start(self):
        found = [last_diagnosis_size(n, start=7, every=3, between="keep") for n in range(5, 14)]
        assert found == [None, None, None, None, 9, 9, 9, 12, 12]

    def test_in_between_all_data_are_used_if_so_wished(self):
        found = [last_diagnosis_size(n, start=7, every=3, between="all") for n in range(8, 14)]
        assert found == [None, 9, None, None, 12, None]

    def test_a_start_of_zero_waits_for_an_observation(self):
        assert last_diagnosis_size(0, start=0, every=1, between="keep") is None
        assert last_diagnosis_size(1, start=0, every=1, between="keep") == 1


def test_what_is_left_is_fitted_as_if_the_outliers_had_never_been_told():
    X, Y = data(magnitude=1e6)
    kept = [i for i in range(30) if i not in (4, 11)]
    model, without = fit(FilteredGP(X, Y)), fit(PlainGP(X[kept], Y[kept]))
    Z = torch.rand(20, 2, generator=torch.Generator().manual_seed(3))
    assert model.verdict.outliers == model.verdict.exclusions == (4, 11)
    assert not model.verdict.is_void
    torch.testing.assert_close(model.posterior(Z).mean, without.posterior(Z).mean, rtol=0, atol=0.02)


def test_the_percentiles_say_which_side():
    X, Y = data(outliers=())
    Y[4] += 50.0
    Y[11] -= 50.0
    verdict = fit(FilteredGP(X, Y)).verdict
    assert verdict.outliers == (4, 11)
    assert verdict.percentiles[0] > 0.995
    assert verdict.percentiles[1] < 0.005


def test_a_detector_that_averages_judges_by_its_likeliest_fit():
    """Where its fits disagree, they would excuse just what is doubtful."""
    x = torch.arange(16) / 15
    Y = torch.sin(3 * x) + 0.1 * torch.sin(40 * x)
    Y[10] += 1.2
    X, Y = x.unsqueeze(-1), Y.unsqueeze(-1)
    many, one = (
        fit(FilteredGP(X, Y, detector="relevance-pursuit", detector_options=options)).verdict
        for options in ({}, {"is_averaged": False})
    )
    assert many == one
    assert 10 in many.outliers


def test_no_rejection_is_permanent():
    """A lone peak is called an outlier until its flanks have been measured."""

    def peak(X):
        return torch.sin(6 * X) + 3 * torch.exp(-(((X - 0.5) / 0.05) ** 2))

    X = torch.linspace(0, 1, 21).unsqueeze(-1)
    assert fit(FilteredGP(X, peak(X))).verdict.outliers == (10,)
    X = torch.cat([X, torch.linspace(0.41, 0.59, 10).unsqueeze(-1)])
    assert fit(FilteredGP(X, peak(X))).verdict.outliers == ()


def test_one_that_calls_more_than_half_is_void_and_all_are_used():
    X, Y = data()
    model = fit(FilteredGP(X, Y, tail=0.4999))
    assert len(model.verdict.outliers) > 15
    assert model.verdict.is_void
    assert model.verdict.exclusions == ()
    torch.testing.assert_close(model.posterior(X).mean, fit(PlainGP(X, Y)).posterior(X).mean)
    assert not diagnose(model).is_outlier.any()


class TestBetween:
    def test_the_last_verdict_is_kept(self):
        X, Y = data(33, outliers=(4, 31))
        model = fit(FilteredGP(X, Y, every=10))
        assert model.verdict.observations == 30
        assert model.verdict.outliers == (4,)
        assert diagnose(model).is_outlier.nonzero().flatten().tolist() == [4]

    def test_or_all_data_are_used(self):
        X, Y = data(33)
        model = fit(FilteredGP(X, Y, every=10, between="all"))
        assert model.verdict is None
        assert not diagnose(model).is_outlier.any()

    def test_a_fit_that_goes_on_stands_on_the_same_verdict(self):
        X, Y = data(33)
        before = fit(FilteredGP(X[:32], Y[:32], every=10))
        on, anew = (
            fit(FilteredGP(X, Y, every=10), before.warm_start, prefix_rows(31, 29)),
            fit(FilteredGP(X, Y, every=10)),
        )
        assert on.verdict is before.verdict
        assert on.verdict == anew.verdict
        torch.testing.assert_close(on.posterior(X).mean, anew.posterior(X).mean)

    def test_but_not_where_a_diagnosis_is_due(self):
        X, Y = data(31)
        before = fit(FilteredGP(X[:29], Y[:29], every=10))
        assert (
            fit(FilteredGP(X[:30], Y[:30], every=10), before.warm_start, prefix_rows(31, 29)).verdict.observations == 30
        )


@pytest.mark.few(2)
@pytest.mark.parametrize("detector", DETECTORS)
@pytest.mark.parametrize("leave_one_out", [True, False])
def test_any_robust_surrogate_detects(detector, leave_one_out):
    X, Y = data(magnitude=1e3)
    verdict = fit(FilteredGP(X, Y, detector=detector, leave_one_out=leave_one_out, tail=1e-3)).verdict
    assert verdict.outliers == (4, 11)


def test_a_detector_has_options():
    X, Y = data()
    assert {4, 11} <= set(fit(FilteredGP(X, Y, detector_options={"dof": None})).verdict.outliers)


def test_a_gross_value_is_not_excused_by_small_known_noise():
    """In-sample, a fit that is told of small noise passes through it."""
    X, Y = data(magnitude=50.0)
    with quiet():
        model = fit(FilteredGP(X, Y, torch.full_like(Y, 0.05**2)))
    assert {4, 11} <= set(model.verdict.outliers)


def test_below_the_start_it_is_the_plain_gp():
    X, Y = data(8, outliers=(4,))
    model = fit(FilteredGP(X, Y, start=9))
    assert model.verdict is None
    torch.testing.assert_close(model.posterior(X).mean, fit(PlainGP(X, Y)).posterior(X).mean)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"detector": "standard"}, r"detector must be one of \[.*'student-t'\], got 'standard'"),
        ({"detector_options": {"dofs": 3}}, r"such as 'student-t' takes: .* options \['dof', .*\], got 'dofs'"),
        ({"detector_options": {"dof": 0.2}}, "such as 'student-t' takes: dof must be at least 1"),
        ({"tail": 0.5}, r"tail must be in \(0, 0.5\), got 0.5"),
        ({"tail": 0}, r"tail must be in \(0, 0.5\), got 0"),
        ({"start": -1}, "start must be a whole number of at least 0, got -1"),
        ({"every": 0}, "every must be a whole number of at least 1, got 0"),
        ({"between": "some"}, r"between must be one of \['keep', 'all'\], got 'some'"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        FilteredGP(*data(), **options)
