"""robustbo in Ax: our surrogates as a generation strategy, and their beliefs about a client's measurements.

    client.set_generation_strategy(generation_strategy("relevance-pursuit"))

Importing this registers our classes with Ax's storage, so that clients that use them can be saved and loaded.
"""

from robustbo.ax.believed import Best, FrontArm, best, front
from robustbo.ax.client import complete, failures, next_repeat, next_replicate, outliers
from robustbo.ax.new_client import client_for
from robustbo.ax.old_experiments import OldExperiment
from robustbo.ax.sources import attach_trial, next_from_source, source_of, sources
from robustbo.ax.strategy import generation_strategy

__all__ = [
    "Best",
    "FrontArm",
    "OldExperiment",
    "attach_trial",
    "best",
    "client_for",
    "complete",
    "failures",
    "front",
    "generation_strategy",
    "next_from_source",
    "next_repeat",
    "next_replicate",
    "outliers",
    "source_of",
    "sources",
]
