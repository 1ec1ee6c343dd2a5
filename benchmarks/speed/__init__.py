"""Seconds and memory of fits, asks and predictions, beside other libraries."""
