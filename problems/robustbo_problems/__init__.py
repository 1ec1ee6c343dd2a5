"""Benchmark problems: clean, deterministic functions, registered under the entry points ``robustbo.problems``."""
