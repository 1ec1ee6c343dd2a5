"""Cells: one replication of one method, recorded line by line."""
