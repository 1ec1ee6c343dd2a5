"""Where events are kept: a file or a database, both an ordered log with chained checksums."""
