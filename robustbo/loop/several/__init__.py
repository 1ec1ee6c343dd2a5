"""What is made of several outcomes, each with a robust surrogate and wrong values of its own."""
