"""An overview's plain values in words: what needs no surrogate, and so nothing that takes long to import."""
