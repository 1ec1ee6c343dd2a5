"""The surrogate that does not know its own scale."""

from robustbo.surrogates.student_t_process.model import StudentTProcess

__all__ = ["StudentTProcess"]
