"""Storage of events: a file or a database, both an ordered log with chained checksums."""
