"""What a kind of run looks like: its charts, and its section of a page."""
