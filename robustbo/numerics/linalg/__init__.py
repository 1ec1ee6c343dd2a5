"""Factorizations of one small matrix, straight from LAPACK."""
