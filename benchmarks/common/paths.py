"""Folders of the checkout that benchmarks read and write."""

from pathlib import Path

RUNS = Path(__file__).parents[2] / "runs"
