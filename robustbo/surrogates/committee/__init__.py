"""Committees: surrogates for histories of any size, in memory, on a cluster or in files."""

from robustbo.surrogates.committee.model import CommitteeGP

__all__ = ["CommitteeGP"]
