import pickle
import threading

import pytest

import robustbo as rb
from robustbo.loop.surrogate import fit as fitting
from robustbo.loop.surrogate.cache import FitCache


def kept(fits, *keys):
    """Ask for these, and which of them had to be made."""
    made = []
    for key in keys:
        assert fits.get(key, lambda key=key: made.append(key) or key) == key
    return made


def test_what_was_made_is_kept_and_what_was_used_least_recently_is_forgotten():
    fits = FitCache(2)
    assert kept(fits, "a", "b", "a", "c", "a", "b") == ["a", "b", "c", "b"]
    assert (len(fits), fits.misses) == (2, 4)
    fits.clear()
    assert kept(fits, "a") == ["a"]


def test_what_is_made_may_ask_for_others():
    fits = FitCache(3)
    assert fits.get(2, lambda: fits.get(1, lambda: fits.get(0, lambda: 0) + 1) + 1) == 2
    assert kept(fits, 0, 1, 2) == []


def test_an_error_is_not_kept():
    fits = FitCache()
    with pytest.raises(ZeroDivisionError):
        fits.get("a", lambda: 1 / 0)
    assert kept(fits, "a") == ["a"]


def told(count=8):
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", seed=0, surrogate="standard")
    for number in range(count):
        opt.tell({"x": number / count}, (number / count - 0.3) ** 2)
    return opt


def test_an_optimizer_fits_once_to_a_history_and_its_copy_on_its_own():
    opt = told()
    first = opt.best(), opt.predict({"x": 0.5}), opt.outliers()
    opt.ask(), opt.frame()
    assert opt.fits.misses == 1
    copy = pickle.loads(pickle.dumps(opt))
    assert (len(copy.fits), copy.fits is opt.fits) == (0, False)
    assert (copy.best(), copy.predict({"x": 0.5}), copy.outliers()) == first


def test_threads_that_look_at_one_history_wait_for_the_one_that_fits(monkeypatch):
    opt, calls, search = told(), [], fitting.contract.fit

    def counted(*arguments):
        calls.append(threading.get_ident())
        return search(*arguments)

    monkeypatch.setattr(fitting.contract, "fit", counted)
    barrier, found = threading.Barrier(4), []

    def look():
        barrier.wait()
        found.append(opt.best())

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert found == [found[0]] * 4


def test_what_is_small_is_kept_longer_than_fits():
    fits = FitCache(1, 2)
    for key in ("a", "b"):
        fits.get(key, lambda: "fit")
        fits.get_small(key, lambda: "end")
    assert (fits.misses, len(fits)) == (4, 1)
    assert fits.get_small("a", lambda: "another") == "end"
    assert fits.get("a", lambda: "another") == "another"
