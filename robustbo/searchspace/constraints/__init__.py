"""Constraints between numbers, known beforehand: read, evaluated, solved, and proved to be impossible."""
