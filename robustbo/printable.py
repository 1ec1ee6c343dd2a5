"""Text that can be printed on a line: names come from files that others have written."""


def printable(text: str) -> str:
    r"""Text whose line ends and control characters are written out, so that they can be seen and command nothing.

    Example:
        >>> print(printable("\x1b[2J, \u202e, größe"))
        \x1b[2J, \u202e, größe
    """
    return "".join(
        c if c.isprintable() else ascii(c)[1:-1]  # which is also what cannot be encoded: half a pair of surrogates
        for c in text
    )
