"""The parts that all surrogates share: the contract, the base GP, its priors."""
