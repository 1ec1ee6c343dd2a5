"""The command line."""

from robustbo.cli.app import app, main

__all__ = ["app", "main"]
