"""Built pages: links that lead nowhere within the site, and what a page would load from the network."""

import logging
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}  # without a click


class Page(HTMLParser):
    """The anchors of a page, its links, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element's anchor, and where it leads."""
        values = {name: value for name, value in attrs if value}
        if "id" in values:
            self.anchors.add(values["id"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in LOADED and LOADED[tag] in values:
            self.loads.append(values[LOADED[tag]])


def faults(folder: Path) -> Iterator[str]:
    """Return a line for each link to a page, file or anchor that is not there, and for each load from the network."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(folder)
        for target in page.loads:
            if urlsplit(target).netloc:
                yield f"{name}: loads {target}"
        for target in [*page.links, *page.loads]:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not to.exists():
                yield f"{name}: {target} leads nowhere"
            elif to in pages and parts.fragment and unquote(parts.fragment) not in pages[to].anchors:
                yield f"{name}: {target} names no anchor of its page"


def warn(app: Any, exception: Exception | None) -> None:
    """Log each fault of the pages that Sphinx has built as a warning of its own, which `-W` makes an error."""
    if exception is None and app.builder.name == "html":
        for fault in faults(Path(app.outdir)):
            logging.getLogger("sphinx.built_site").warning(fault)


def setup(app: Any) -> dict[str, bool]:
    """Check the pages when they are built."""
    app.connect("build-finished", warn)
    return {"parallel_read_safe": True}
