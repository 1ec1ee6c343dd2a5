"""What a browser may do for a page, as the page itself says: run its own scripts, and ask for nothing elsewhere."""

from base64 import b64encode
from hashlib import sha256

from robustbo.report.page.assets import LIVE, SCRIPT


def _source(script: str) -> str:
    """A script by its digest, as a Content-Security-Policy names it."""
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"


POLICY = (
    f"default-src 'none'; script-src {_source(SCRIPT)} {_source(LIVE)}; style-src 'unsafe-inline'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
META = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
EMBEDDED_NOWHERE = "; frame-ancestors 'none'"  # which only a header can say
