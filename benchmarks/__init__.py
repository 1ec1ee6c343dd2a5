"""Commands that measure what docs/evidence shows: `python -m benchmarks.FOLDER.NAME --help` in a checkout's root."""
