"""A journal that somebody has sent makes this program compute, and nothing else."""

import socket
import sys
from unittest.mock import patch

import pytest
from botorch.models import SingleTaskGP

import robustbo as rb
from robustbo.errors import TrustError
from robustbo.surrogates import names
from robustbo.trials.codec import open_journal
from robustbo.trials.settings import Settings, options_text
from robustbo.trials.storage.journal import Journal

SPACE = rb.Space(x=rb.Float(0, 1))
CODE = "import pathlib\npathlib.Path({mark!r}).touch()\nfrom botorch.models import SingleTaskGP as Evil\n"


@pytest.fixture
def nothing_named():
    """No class has been named in this process, as far as journals are concerned."""
    with patch.dict(names.ALLOWED, clear=True):
        yield


@pytest.fixture
def forged(tmp_path, monkeypatch, nothing_named):
    """A journal that names a class in a module that leaves a mark when it is imported."""
    (tmp_path / "evil_module.py").write_text(CODE.format(mark=str(tmp_path / "mark")))
    monkeypatch.syspath_prepend(tmp_path)
    yield write(tmp_path / "j.jsonl", Settings(SPACE, surrogate="evil_module:Evil", num_initial=2))
    sys.modules.pop("evil_module", None)


def write(path, settings):
    journal = Journal.create(path, {"settings": settings.to_dict(), "versions": {}})
    for number, x in enumerate((0.1, 0.4, 0.9)):
        journal.append({"event": "tell", "trial": number, "params": {"x": x}, "value": x, "sd": None})
    return path


def test_reading_imports_nothing_and_says_so(forged, tmp_path):
    with pytest.warns(rb.JournalWarning, match="names the class 'evil_module:Evil', which robustbo ignores here"):
        settings, history = open_journal(forged)
    assert (settings.surrogate, len(history)) == ("standard", 3)
    assert not (tmp_path / "mark").exists()


@pytest.mark.filterwarnings("ignore::robustbo.errors.JournalWarning")
def test_resuming_imports_what_is_allowed(forged, tmp_path):
    for trust in (False, (), "another:Class", SingleTaskGP):
        with pytest.raises(TrustError, match="names the class 'evil_module:Evil', which robustbo neither imports"):
            rb.Optimizer.resume(forged, trust=trust)
    assert not (tmp_path / "mark").exists()
    assert rb.Optimizer.resume(forged, trust="evil_module:Evil").ask().origin == "model"
    assert (tmp_path / "mark").exists()


@pytest.mark.filterwarnings("ignore::robustbo.errors.JournalWarning")
def test_a_class_that_was_named_in_this_process_needs_no_more(tmp_path, nothing_named):
    name = names.name_of(SingleTaskGP)
    path = write(tmp_path / "j", Settings(SPACE, surrogate=name))
    assert rb.Optimizer.resume(path).settings.surrogate == name


@pytest.mark.filterwarnings("ignore::robustbo.errors.JournalWarning")
def test_no_cluster_is_connected_to(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        options = options_text({"cluster": address, "expert_size": 8})
        path = write(tmp_path / "j", Settings(SPACE, surrogate="committee", options=options, num_initial=2))
        settings, _ = open_journal(path)
        assert settings.surrogate_options == {"expert_size": 8}
        with pytest.raises(TrustError, match=f"names the cluster {address!r}"):
            rb.Optimizer.resume(path)
        with pytest.raises(TimeoutError):
            server.accept()
    assert rb.Optimizer.resume(path, trust=address).settings.surrogate_options["cluster"] == address
