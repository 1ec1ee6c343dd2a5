import pytest

OPERATIONS = ("tell", "tell elsewhere", "tell_frame", "fail", "enqueue", "requeue", "amend", "ask", "ask for three")


@pytest.fixture(scope="module")
def moments(load):
    return load("hardening.moments")


@pytest.mark.few(2)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Python loses one in a deletion
@pytest.mark.parametrize("journal", ["memory", "file", "sqlite"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_interrupted_call_has_happened_or_not_and_the_next_one_works(moments, operation, journal, tmp_path):
    row = moments.run(operation, journal, 40, tmp_path)
    assert row["interrupts"] >= 30
    assert row["raised"] > 0.8 * row["interrupts"]
    assert [row[name] for name in ("refused", "different", "slow")] == [0, 0, 0]
