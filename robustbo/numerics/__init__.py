"""The mathematics of the papers: tensors in, tensors (or named tuples of them) out; arrays where a climb lives."""
