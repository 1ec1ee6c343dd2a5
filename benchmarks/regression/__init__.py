"""Regression with wrong values, beside methods of other libraries: errors of prediction, and seconds."""
