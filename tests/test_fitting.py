import pytest
import torch
from botorch.models import SingleTaskGP

from robustbo import fitting
from robustbo.fitting import COLD_EVERY, fit
from robustbo.history import History
from robustbo.numerics import pursuit
from robustbo.numerics.search import climb
from robustbo.parameters import Float
from robustbo.settings import Settings
from robustbo.space import Space

SPACE = Space(x=Float(0.0, 1.0), y=Float(0.0, 1.0))


def history(n, wrong=()):
    made = History()
    for i in range(n):
        params = SPACE.sobol(3, i)
        value = params["x"] ** 2 - params["y"] + 50.0 * (i in wrong)
        made = made.apply({"event": "tell", "trial": i, "params": params, "value": value, "sd": None})
    return made


def fitted(n, surrogate="relevance-pursuit", wrong=(), forget=True):
    if forget:
        fitting._fit.cache_clear()
    return fit(Settings(SPACE, surrogate=surrogate), history(n, wrong))


def theta(found):
    return [p.tolist() for p in found.model.parameters()]


@pytest.mark.parametrize("surrogate", ["relevance-pursuit", "standard"])
def test_a_fit_is_the_same_whether_a_run_went_on_or_is_resumed(surrogate):
    fitting._fit.cache_clear()
    going_on = [fitted(n, surrogate, wrong=(3, 12), forget=False) for n in range(10, 18)]
    assert theta(going_on[-1]) == theta(fitted(17, surrogate, wrong=(3, 12)))


def test_a_warm_search_is_shorter_and_ends_as_high(monkeypatch):
    evaluations = []

    def counted(*args, **options):
        found = climb(*args, **options)
        evaluations.append(found[0].num_evaluations)
        return found

    monkeypatch.setattr(pursuit, "climb", counted)
    fitted(COLD_EVERY + 4, wrong=(3, 12))
    evaluations.clear()
    warm = fitted(COLD_EVERY + 5, wrong=(3, 12), forget=False).model
    effort = sum(evaluations)
    monkeypatch.setattr(fitting, "COLD_EVERY", 1)
    evaluations.clear()
    cold = fitted(COLD_EVERY + 5, wrong=(3, 12)).model
    assert effort < sum(evaluations)
    assert warm.found.F >= cold.found.F - 0.1
    assert warm.support == cold.support


def test_a_new_outlier_is_found_from_a_warm_start():
    assert fitted(16, wrong=(15,)).model.support == [15]


def test_a_value_that_changes_the_scale_starts_the_search_anew():
    settings = Settings(SPACE, surrogate="relevance-pursuit")
    made = history(2)
    for i, value in enumerate([1e12, 3e12, 5e12, 2e12], start=2):
        made = made.apply({"event": "tell", "trial": i, "params": SPACE.sobol(3, i), "value": value, "sd": None})
    fitting._fit.cache_clear()
    assert fit(settings, made).scale > 1e11


def test_a_model_that_cannot_continue_is_fitted_from_nothing():
    settings = Settings(SPACE, surrogate="botorch.models.gp_regression:SingleTaskGP")
    fitting._fit.cache_clear()
    assert isinstance(fit(settings, history(7)).model, SingleTaskGP)
    assert fitting._fit.cache_info().currsize == 1


def test_known_noise_goes_along():
    made = History()
    for i in range(13):
        params = SPACE.sobol(3, i)
        made = made.apply({"event": "tell", "trial": i, "params": params, "value": params["x"], "sd": 0.1 + 0.01 * i})
    fitting._fit.cache_clear()
    found = fit(Settings(SPACE, surrogate="standard"), made)
    _, noise = found.model.outcome_transform.untransform(
        found.model.train_targets.unsqueeze(-1), found.model.likelihood.noise.unsqueeze(-1)
    )
    expected = torch.tensor([(0.1 + 0.01 * i) / found.scale for i in range(13)]).square()
    torch.testing.assert_close(noise.squeeze(-1), expected)
