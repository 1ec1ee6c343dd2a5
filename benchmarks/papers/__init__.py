"""Figures, tables and problems of the papers whose methods are built here."""
