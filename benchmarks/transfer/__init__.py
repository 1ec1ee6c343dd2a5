"""Old studies beside a new one: errors of prediction, and loops, paired with other methods that learn from them."""
