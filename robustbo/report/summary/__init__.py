"""A study in plain values and in words."""
