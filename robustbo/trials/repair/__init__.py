"""Damaged journals: what can be proven of them, and a new file of that."""
