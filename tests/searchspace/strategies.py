"""Random spaces for hypothesis to choose from."""

from hypothesis import strategies as st

from tests.searchspace.made import KINDS, made


def spaces(*kinds: str) -> st.SearchStrategy:
    """Spaces of some kinds, or of all; each with a point that keeps its constraints, and values to fix."""
    return st.builds(made, st.randoms(use_true_random=False), st.sampled_from(kinds or tuple(KINDS)))
