import secrets

import pytest

from tests.trials import postgres


@pytest.fixture(scope="session")
def server():
    """A PostgreSQL server; without PostgreSQL on this machine the test is skipped."""
    if postgres.found() is None:
        pytest.skip(postgres.MISSING)
    with postgres.server() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request, tmp_path):
    """A study that is not there yet, in a database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/lab.db#oven"
    return f"{request.getfixturevalue('server').address}#oven-{secrets.token_hex(4)}"


@pytest.fixture
def postgresql(server):
    """A study that is not there yet, on the PostgreSQL server."""
    return f"{server.address}#oven-{secrets.token_hex(4)}"
