"""The kinds of parameter: their rules, and their maps to the unit interval.

A parameter's value is the truth and its unit coordinate is always derived from it. What comes out of the unit interval
is rounded to `DIGITS` significant digits (of the range, or of the value on a log scale), which is coarser than the
error of the two maps: so value -> unit -> value and value -> JSON -> value are exact, bit for bit, for every value ever
asked.
"""

from robustbo.searchspace.parameters.choice import Choice
from robustbo.searchspace.parameters.condition import MAX_LEVELS, Value
from robustbo.searchspace.parameters.integer import Int
from robustbo.searchspace.parameters.ordinal import Ordinal
from robustbo.searchspace.parameters.real import DIGITS, Float

Parameter = Float | Int | Ordinal | Choice

__all__ = ["DIGITS", "MAX_LEVELS", "Choice", "Float", "Int", "Ordinal", "Parameter", "Value"]
