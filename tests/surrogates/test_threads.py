"""Whatever a surrogate computes, it computes on one thread, and leaves the process with as many as it had."""

import pytest
import torch
from botorch.models import SingleTaskGP
from threadpoolctl import ThreadpoolController, threadpool_limits
from torch.overrides import TorchFunctionMode

from robustbo.surrogates.common import contract
from robustbo.surrogates.common.map_gp import MapGP
from robustbo.surrogates.common.quiet import quiet
from robustbo.surrogates.registry import SURROGATES

LIBRARIES = ThreadpoolController().select(user_api="blas").lib_controllers  # NumPy's and SciPy's


def numbers():
    return torch.get_num_threads(), *(library.num_threads for library in LIBRARIES)


with threadpool_limits(2):
    TWO = 2, *numbers()[1:]  # a library of others may be built for one thread
ONE = (1,) * len(TWO)


class Seen(TorchFunctionMode):
    """The numbers of threads with which torch was called."""

    def __init__(self):
        super().__init__()
        self.numbers = set()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.numbers.add(numbers())
        return func(*args, **(kwargs or {}))


@pytest.fixture(autouse=True)
def two_threads():
    before = torch.get_num_threads()
    with threadpool_limits(2):
        torch.set_num_threads(2)
        assert numbers() == TWO
        yield
    torch.set_num_threads(before)


def seen(act, *args, **kwargs):
    with Seen() as calls, quiet():
        act(*args, **kwargs)
    assert numbers() == TWO
    return calls.numbers


def model_of(cls):
    X = torch.linspace(0, 1, 9, dtype=torch.float64).unsqueeze(-1)
    Y = torch.sin(6 * X)
    Y[4] = 20.0
    return cls(X, Y)


@pytest.fixture(scope="module", params=SURROGATES)
def fitted(request):
    with quiet():
        model = contract.fit(model_of(SURROGATES[request.param]))
    model.fitted_state = model.state_dict()
    return model


@pytest.mark.parametrize("name", SURROGATES)
def test_a_fit(name):
    model = model_of(SURROGATES[name])
    mll = contract.marginal_log_likelihood(model)
    assert seen(contract.fit, model) == {ONE}
    assert seen(model.custom_fit, mll=mll) == {ONE}  # as fit_gpytorch_mll calls it, and so does Ax


ANSWERS = {
    "posterior": lambda model, X: model.posterior(X),
    "call": lambda model, X: model(X),
    "marginals": contract.marginals,
    "at_inputs": lambda model, X: contract.at_inputs(model, model.train_inputs[0]),
    "diagnose": lambda model, X: contract.diagnose(model),
    "tails": lambda model, X: contract.tails(model),
    "state": lambda model, X: isinstance(model, MapGP) and model.load_state_dict(model.fitted_state),
}


@pytest.mark.few(42)
@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer(fitted, answer):
    X = torch.tensor([[0.25], [0.6]], dtype=torch.float64)
    assert seen(ANSWERS[answer], fitted, X) <= {ONE}


def test_the_fit_of_a_model_that_is_none_of_ours():
    assert seen(contract.fit, model_of(SingleTaskGP)) == {ONE}


def test_a_class_of_ones_own_computes_so_too():
    class Own(SURROGATES["standard"]):
        def custom_fit(self, mll, **options):
            torch.zeros(1)
            return super().custom_fit(mll, **options)

        def posterior(self, X, **options):
            torch.zeros(1)
            return super().posterior(X, **options)

    model = model_of(Own)
    assert seen(contract.fit, model) == {ONE}
    assert seen(model.posterior, torch.zeros(1, 1, dtype=torch.float64)) == {ONE}
