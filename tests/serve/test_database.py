"""A study in a database is begun, worked on and judged on the page as one in a file, and no password is shown."""

import pytest
from starlette.testclient import TestClient

import robustbo as rb
from robustbo.serve.access import Access
from robustbo.serve.app import application
from tests.serve.conftest import FORM, JSON
from tests.trials import postgres

HTML = {"Accept": "text/html"}


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/lab.db#oven"
        return
    if postgres.found() is None:
        pytest.skip(postgres.MISSING)
    with postgres.server() as running:
        yield f"{running.address}#oven"


def test_a_study_in_a_database_has_the_same_page(place):
    app = application(None, Access(80, None), place)
    with TestClient(app, "http://127.0.0.1:80", follow_redirects=False) as client:
        assert client.post("/begin", data=FORM | {"do": "begin"}, headers=JSON).json() == {"ok": True}
        numbers = [trial["trial"] for trial in client.post("/ask", json={"n": 2}).json()["trials"]]
        client.post(f"/trials/{numbers[0]}/tell", data={"value.0": "61,5", "who": "Ana"}, headers=JSON)
        client.post(f"/trials/{numbers[0]}/exclude", data={"reason": "the bottle leaked"}, headers=JSON)
        elsewhere = rb.Study.resume(place)
        assert (elsewhere.history[0].value, elsewhere.history[0].state) == (61.5, "excluded")
        rb.Optimizer.resume(place).tell(numbers[1], 40.0)  # another process
        assert client.post(f"/trials/{numbers[1]}/tell", json={"value": 41}).status_code == 409
        client.post(f"/trials/{numbers[0]}/take-back", headers=JSON)
        assert rb.Study.resume(place).history[0].state == "told"
        for address in ("/", "/values", f"/trials/{numbers[0]}", "/progress", "/model"):
            page = client.get(address, headers=HTML)
            assert page.status_code == 200
            assert "oven" in page.text
            assert postgres.PASSWORD not in page.text
