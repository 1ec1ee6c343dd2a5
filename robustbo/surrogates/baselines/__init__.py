"""Surrogates that robust ones are measured against."""
