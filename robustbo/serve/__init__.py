"""A study as a page that a lab works in: what to measure, what is believed, why; the extra `serve` has what it needs."""
