"""Why a test may be skipped: a skip for any other reason fails, as does one for a package of the extra ``test``."""

import re

import pytest

ALLOWED = {
    # what a stranger need not have
    r"no real data: there is no folder ": "the data sets are not ours to ship; the checks beside the data run them",
    r"no [\w-]+ in .*: let ROBUSTBO_DATA name": "nor is each of them in every such folder",
    r"Chromium is not installed|no Chromium here": "a browser is no Python package; its tests look at printed pages",
    r"no Selenium here": "it is in no extra, since it needs a browser and its driver; whoever has these installs it",
    r"PostgreSQL": "there is no wheel of it for every platform",
    r"no cocoex: |no cma: |no carps: ": "two benchmarks need COCO's suite, a peer and a harness that are in no extra",
    # what another system does in another way
    r"limits the size of files on POSIX alone": "Windows cannot be asked for a full disk",
    r"forks|needs fork|each imports for itself": "Windows and macOS start processes anew",
    r"an alarm": "Windows has none",
    r"root may read everything": "no permission can be taken from root",
    # a table of cases with holes
    r"needs no file that is there": "what creates a study has no file to lose",
}


def judged(report: pytest.TestReport | pytest.CollectReport) -> pytest.TestReport | pytest.CollectReport:
    """The report; a skip for a reason that is not allowed has failed."""
    if report.skipped and not hasattr(report, "wasxfail"):
        _, _, reason = report.longrepr
        if not any(re.search(pattern, reason) for pattern in ALLOWED):
            report.outcome = "failed"
            report.longrepr = f"{reason!r} is no reason in tests/skips.py"
    return report
