"""The parser of a benchmark. It imports nothing heavy, as some benchmarks set their threads before torch is there."""

import argparse


def parser_of(text: str | None) -> argparse.ArgumentParser:
    """The parser of a benchmark's options, with its docstring as the help."""
    return argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
