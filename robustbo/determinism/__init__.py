"""Computations that hear nothing of what surrounds them, and leave it as it was, however they end."""
