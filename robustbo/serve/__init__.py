"""A study as a page that a lab works in: the work, the beliefs and their reasons; it needs the extra `serve`."""
