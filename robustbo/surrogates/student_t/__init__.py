"""The surrogate with Student-t noise."""

from robustbo.surrogates.student_t.model import StudentTGP

__all__ = ["StudentTGP"]
