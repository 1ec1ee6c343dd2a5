"""Relevance pursuit: which observations have an error of their own (Ament and others, 2024)."""
