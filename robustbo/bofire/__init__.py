"""Relevance pursuit as a surrogate of BoFire's strategies."""
