"""The surrogates' names as a type, for editors and type checkers; a test compares them with the registry."""

from typing import Literal

SurrogateName = Literal[
    "auto",
    "standard",
    "scaled-clip",
    "winsorized",
    "power-transform",
    "trimmed",
    "filtered",
    "relevance-pursuit",
    "botorch-relevance-pursuit",
    "student-t",
    "student-t-process",
    "conjugate",
    "computation-aware",
    "committee",
    "student-t-variational",
    "laplace-variational",
    "huber",
    "huber-projection",
]
