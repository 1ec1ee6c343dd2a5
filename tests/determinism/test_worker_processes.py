import signal

import pytest

from robustbo.determinism.worker_processes import IS_POSIX, block_sigint

posix = pytest.mark.skipif(not IS_POSIX, reason="Ctrl-C reaches processes of one console there")


@posix
def test_ctrl_c_is_blocked_in_the_block_alone():
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    with block_sigint():
        assert signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before


@posix
def test_it_is_as_before_after_an_error():
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    with pytest.raises(OSError, match="no process"), block_sigint():
        raise OSError("no process")
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before
