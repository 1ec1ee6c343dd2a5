import optuna
import pytest


@pytest.fixture(autouse=True)
def quiet():
    """Optuna without a line a trial."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(before)
