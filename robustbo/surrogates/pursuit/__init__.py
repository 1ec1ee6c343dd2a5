"""The surrogate by relevance pursuit."""
