"""Values of which only a bound is known: what each says of the latent value at its point, as a normal pseudo-value."""
