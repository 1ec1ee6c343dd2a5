"""A page may run its own scripts and nothing else: their digests are those of the scripts as they stand in it."""

import re
from base64 import b64encode
from hashlib import sha256

from robustbo.report.page.html import document
from robustbo.report.page.policy import POLICY


def test_each_script_of_a_page_is_allowed_by_its_digest():
    page = document("a <study>", "<p>body</p>", version="3")
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == 2
    for script in scripts:
        assert f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" in POLICY
    assert f'content="{POLICY}"' in page
    assert "<title>robustbo: a &lt;study&gt;</title>" in page
    assert "<p>body</p>" in page
