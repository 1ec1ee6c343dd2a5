"""Relevance pursuit beside the values of other sources, whose relation to the objective is learned."""
