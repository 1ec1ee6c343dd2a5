"""A property that is computed once an object, and never waits for another thread."""

import gc
import os
import sys
import threading
import warnings
from dataclasses import dataclass

import pytest

from robustbo.lazy import cached_property, load_module


@dataclass(frozen=True)
class Counted:
    calls: list

    @cached_property
    def area(self):
        """What it is."""
        self.calls.append(1)
        return len(self.calls)


def test_it_is_computed_once_an_object():
    one, other = Counted([]), Counted([])
    assert (one.area, one.area, other.area, len(one.calls)) == (1, 1, 1, 1)
    assert Counted.area.__doc__ == "What it is."


def test_an_error_is_not_kept():
    class Failing:
        @cached_property
        def area(self):
            raise KeyError("once")

    one = Failing()
    for _ in range(2):
        with pytest.raises(KeyError):
            _ = one.area


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_child_does_not_wait_for_a_thread_of_its_parents():
    is_within, may_end = threading.Event(), threading.Event()

    class Slow:
        @cached_property
        def area(self):
            if not is_within.is_set():
                is_within.set()
                may_end.wait(30)
            return 4

    first = threading.Thread(target=lambda: Slow.area.__get__(one, Slow))
    one, other = Slow(), Slow()
    first.start()
    is_within.wait(30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads
        child = os.fork()
    if child == 0:  # pragma: no cover
        threading.Timer(10, os._exit, [1]).start()
        os._exit(0 if other.area == 4 else 2)
    may_end.set()
    first.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert one.area == 4


@pytest.mark.parametrize("is_wanted", [True, False])
def test_garbage_is_not_collected_while_a_module_is_imported_and_as_before_after_it(tmp_path, monkeypatch, is_wanted):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "module_of_gc.py").write_text("import gc\nis_enabled = gc.isenabled()\n")
    monkeypatch.delitem(sys.modules, "module_of_gc", raising=False)
    (gc.enable if is_wanted else gc.disable)()
    try:
        assert not load_module("module_of_gc").is_enabled
        assert gc.isenabled() == is_wanted
    finally:
        gc.enable()
        del sys.modules["module_of_gc"]
