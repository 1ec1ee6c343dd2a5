"""The permissions of a page in a browser, as the page itself says: to run its own scripts, and nothing elsewhere."""

from base64 import b64encode
from hashlib import sha256

from robustbo.report.page.environment import render


def _source(name: str) -> str:
    """A script by its digest, as a Content-Security-Policy names it."""
    return f"'sha256-{b64encode(sha256(render(name).encode()).digest()).decode()}'"


SCRIPTS = " ".join(map(_source, ("page.js", "live.js")))
POLICY = (
    f"default-src 'none'; script-src {SCRIPTS}; style-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'"
)
EMBEDDED_NOWHERE = "; frame-ancestors 'none'"  # which only a header can say
