"""How a committee is made up: names and sizes that its options have."""

import re
from typing import Any

EXPERT_SIZE = 256
NOISES = ("student-t", "normal")
PARTITIONS = ("random", "clustered")


def check_address(cluster: Any) -> None:
    """Raise a ValueError for what cannot be the address of a scheduler."""
    if not (isinstance(cluster, str) and re.fullmatch(r"[^:\s]+://.+:\d+|[^:/\s]+:\d+", cluster)):
        raise ValueError(f"cluster must be the address of a Dask scheduler, tcp://host:port, got {cluster!r}")
