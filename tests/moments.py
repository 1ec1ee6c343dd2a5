"""Ctrl-C at a moment of one's choice."""

import gc
import signal
import sys


def interrupted_at(moment, act, within=("",)):
    """Run with Ctrl-C at the so manieth moment at which Python may hear it, None for never.

    Python hears signals where a function begins and after a call of one in C: these are a profile's events. What
    it raises while it collects garbage, in others' callbacks, nobody hears: it collects none meanwhile.

    Args:
        moment: Counted from 1.
        act: A function without arguments.
        within: How the paths of the files begin in which moments count.

    Returns:
        How many moments there were, and whether it came out.
    """
    count = 0

    def profile(frame, event, _):
        nonlocal count
        code = frame.f_code
        if event in ("call", "c_return") and code.co_filename.startswith(within) and code is not here:
            count += 1
            if count == moment:
                signal.raise_signal(signal.SIGINT)

    here = interrupted_at.__code__
    is_interrupted = False
    is_collecting = gc.isenabled()
    gc.disable()
    sys.setprofile(profile)
    try:
        act()
    except KeyboardInterrupt:
        is_interrupted = True
    finally:
        sys.setprofile(None)
        if is_collecting:
            gc.enable()
    return count, is_interrupted
