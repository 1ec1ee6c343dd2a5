"""The mathematics is checked in double precision."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def precise(double_precision):
    """For all tests here."""
