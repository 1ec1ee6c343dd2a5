"""The robust conjugate surrogate."""
