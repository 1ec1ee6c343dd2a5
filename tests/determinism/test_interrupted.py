"""What an interrupted call holds is let go of, though somebody keeps the error."""

import sys

import pytest

import robustbo as rb
from robustbo.determinism.interrupted import release_on_interrupt
from robustbo.loop.surrogate import fallback


class Held:
    """Something that is held as long as anything refers to it."""

    number = 0

    def __init__(self):
        Held.number += 1

    def __del__(self):
        Held.number -= 1


@pytest.fixture(autouse=True)
def nothing_held():
    Held.number = 0


@release_on_interrupt
def call(error):
    return inner(error)


def inner(error):
    held = Held()
    if error is not None:
        raise error
    return held


def test_what_returns_returns():
    assert isinstance(call(None), Held)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_lets_go_though_it_is_kept(kind):
    with pytest.raises(kind) as kept:
        call(kind())
    assert kept.value.__traceback__ is not None
    assert Held.number == 0


def test_an_error_keeps_what_whoever_debugs_it_wants_to_see():
    with pytest.raises(ValueError, match="seen"):
        call(ValueError("seen"))
    assert Held.number == 1


def test_what_a_library_makes_of_an_interrupt_is_the_interrupt():
    @release_on_interrupt
    def masked():
        try:
            inner(KeyboardInterrupt())
        finally:
            raise AssertionError

    with pytest.raises(KeyboardInterrupt):
        masked()
    assert Held.number == 0


def test_an_interrupt_that_somebody_handles_outside_is_theirs():
    def outside():
        held = Held()
        inner(KeyboardInterrupt())
        return held

    try:
        outside()
    except KeyboardInterrupt:
        with pytest.raises(ValueError, match="mine"):
            call(ValueError("mine"))
        assert sys.exc_info()[1].__traceback__.tb_next.tb_frame.f_locals["held"] is not None


def test_the_ladder_takes_no_interrupt_for_an_error_in_the_numbers(monkeypatch):
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", seed=0, num_initial=3)
    for number in range(3):
        opt.tell(opt.ask(), float(number))

    def interrupted(*_):
        try:
            raise KeyboardInterrupt
        finally:
            raise RuntimeError("trying to pop from empty mode stack")

    with monkeypatch.context() as patch:
        patch.setattr(fallback, "fit_to", interrupted)
        with pytest.raises(KeyboardInterrupt):
            opt.ask()
    assert opt.ask().fallback is None
