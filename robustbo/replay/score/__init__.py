"""From recorded cells to tables."""
