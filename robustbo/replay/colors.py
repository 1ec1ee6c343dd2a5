"""Okabe and Ito's colors, which most color-blind readers can tell apart."""

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
FIXED = {"oracle": "#000000", "sobol": "#999999"}
