"""What other threads of a process notice of an ask: nothing."""

import threading

import pytest
import torch

import robustbo as rb

SURROGATES = ("relevance-pursuit", "student-t", "student-t-process", "conjugate", "committee", "standard", "huber")
STEPS = 300  # of training, at least


@pytest.fixture(params=[torch.float32, torch.float64], ids=["float32", "float64"])
def default_type(request):
    before = torch.get_default_dtype()
    torch.set_default_dtype(request.param)
    yield request.param
    torch.set_default_dtype(before)


class Training(threading.Thread):
    """A network that is made and trained in another thread, all in torch's default type."""

    def __init__(self):
        super().__init__()
        self.losses, self.seen, self.error = [], set(), None
        self.has_begun, self.may_end = threading.Event(), threading.Event()

    def run(self):
        try:
            network = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
            optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
            while len(self.losses) < STEPS or not self.may_end.is_set():
                X = torch.rand(16, 4)
                loss = (network(X) - X.sum(-1, keepdim=True)).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                self.losses.append(loss.item())
                self.has_begun.set()
                self.seen.add((X.dtype, loss.dtype, torch.get_default_dtype(), torch.get_num_threads()))
        except Exception as error:  # which the test tells
            self.error = error


def asked(surrogate):
    opt = rb.Optimizer(
        rb.Space(x=rb.Float(0, 1), y=rb.Float(0, 1)),
        direction="minimize",
        seed=3,
        num_initial=4,
        surrogate=surrogate,
        surrogate_options={"max_iter": 5} if surrogate in ("huber", "laplace-variational") else {},
    )
    for _ in range(6):
        trial = opt.ask()
        opt.tell(trial, 9.0 if trial.number == 2 else sum(trial.params.values()))
    return [trial.params for trial in opt.history], [o.evidence for o in opt.outliers()]


@pytest.mark.few(1)
@pytest.mark.parametrize("surrogate", SURROGATES[:3])
def test_a_network_that_trains_meanwhile_is_not_disturbed(default_type, surrogate):
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    training = Training()
    training.start()
    training.has_begun.wait(60)  # a thread has as many as there are when it begins: in an ask, one
    try:
        asked(surrogate)
    finally:
        training.may_end.set()
        training.join()
        torch.set_num_threads(threads)
    assert training.error is None
    assert training.seen == {(default_type, default_type, default_type, 2)}
    assert sum(training.losses[-50:]) < sum(training.losses[:50])


@pytest.mark.few(2)
@pytest.mark.parametrize("surrogate", [*SURROGATES, "laplace-variational", "botorch-relevance-pursuit", "trimmed"])
def test_torchs_default_type_changes_no_decision(surrogate):
    plain, before = asked(surrogate), torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        assert asked(surrogate) == plain
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(before)
