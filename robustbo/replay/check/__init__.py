"""Records compared with what is computed once more: to the last bit, and to rounding."""
