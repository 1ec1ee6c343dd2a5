"""The options of a committee, checked."""

import math
import re
from dataclasses import dataclass
from typing import Any

from robustbo.numerics.committee.aggregation import COMBINE
from robustbo.surrogates.common.capabilities import Capabilities
from robustbo.surrogates.common.options import GPOptions
from robustbo.surrogates.student_t.likelihood import DOF, check_dof
from robustbo.validation import one_of, whole_number

EXPERT_SIZE = 256
DEFAULT_RULE = "calibrated"
NOISES = ("student-t", "normal")
PARTITIONS = ("random", "clustered")


def check_address(cluster: Any) -> None:
    """Raise a ValueError for an invalid address of a scheduler."""
    if not (isinstance(cluster, str) and re.fullmatch(r"[^:\s]+://.+:\d+|[^:/\s]+:\d+", cluster)):
        raise ValueError(f"cluster must be the address of a Dask scheduler, tcp://host:port, got {cluster!r}")


@dataclass(frozen=True, kw_only=True)
class CommitteeOptions(GPOptions):
    """The options of `CommitteeGP`; see there."""

    num_experts: int | None = None
    expert_size: int = EXPERT_SIZE
    partition: str = PARTITIONS[0]
    combine: str = DEFAULT_RULE
    noise: str = NOISES[0]
    dof: float | None = DOF
    fit_experts: int | None = None
    memory_mib: int = 64
    cluster: str | None = None

    def check(self) -> None:
        """Raise a ValueError for invalid options."""
        super().check()
        if self.cluster is not None:
            check_address(self.cluster)
        for name, value in {"num_experts": self.num_experts, "fit_experts": self.fit_experts}.items():
            if value is not None:
                whole_number(name, value, 1)
        for name, value in {"expert_size": self.expert_size, "memory_mib": self.memory_mib}.items():
            whole_number(name, value, 1)
        one_of("partition", self.partition, PARTITIONS)
        one_of("combine", self.combine, tuple(COMBINE))
        one_of("noise", self.noise, NOISES)
        check_dof(self.dof)

    @property
    def nu(self) -> float | None:
        """Degrees of freedom of the noise: infinitely many where it is normal, None where they are to be learned."""
        return math.inf if self.noise == "normal" else self.dof

    @property
    def is_dealt(self) -> bool:
        """Return whether experts get observations at random, so that all experts are alike."""
        return self.partition == "random"

    @property
    def memory(self) -> int:
        """Bytes that a chunk of experts may take, about."""
        return self.memory_mib * 2**20

    @property
    def capabilities(self) -> Capabilities:
        """Robust where the noise is Student-t."""
        is_robust = self.noise == "student-t"
        return Capabilities(is_robust=is_robust, is_heeded=is_robust)
