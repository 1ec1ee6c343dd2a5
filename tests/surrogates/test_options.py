"""Every option of every surrogate takes hostile values, or says what it wants: a journal's header may hold any."""

import math
import signal
import warnings

import pytest
import torch

from robustbo.errors import FitError, NumericalError
from robustbo.surrogates.common.contract import diagnose, fit
from robustbo.surrogates.registry import SURROGATES, check_options, model_class, own_options

VALUES = (
    None,
    "x",
    True,
    -1,
    0,
    0.5,
    1e-300,
    1e300,
    10**9,
    2**53,
    10**305,
    10**400,
    math.nan,
    math.inf,
    [],
    {},
    [1],
    [10**400],
    "1",
)
LIMIT_S = 20
OPTIONS = [(name, option) for name in SURROGATES for option in sorted(own_options(model_class(name)))]


@pytest.fixture
def limited():
    def ring(*_):
        pytest.fail(f"it takes more than {LIMIT_S} s")

    before = signal.signal(signal.SIGALRM, ring)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.few(35)
@pytest.mark.skipif(not hasattr(signal, "alarm"), reason="an alarm")
@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_a_hostile_value_is_refused_or_works(name, option, limited):
    X = torch.linspace(0, 1, 9, dtype=torch.float64).unsqueeze(-1)
    Y = torch.sin(6 * X)
    Y[3] = 50.0
    for value in VALUES:
        signal.alarm(LIMIT_S)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                check_options(name, {option: value})
            except (TypeError, ValueError):
                continue
            model = model_class(name)(X, Y, **{option: value})
            try:
                fit(model)
                diagnose(model)
            except (FitError, NumericalError):
                continue
        assert model.posterior(X).mean.shape == (9, 1)
