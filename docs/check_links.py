"""Check the links of a built site without a network: `python docs/check_links.py DIR`.

A link inside the site must lead to a file and a place that exist. A link to another
site must have https and a host.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and the places that links may lead to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.places = set(), {""}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        """Note what the tag links to and what it is called."""
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.places.add(value)
            elif name in {"href", "src"} and value and tag != "link":
                self.links.add(value)


def broken_links(site):
    """Return a sentence for each link of the site that leads nowhere."""
    pages = {
        path: Page(path.read_text(encoding="utf-8"))
        for path in sorted(site.resolve().rglob("*.html"))
    }
    return [
        f"{path.relative_to(site.resolve())}: {link} {problem}"
        for path, page in pages.items()
        for link in sorted(page.links)
        if (problem := problem_with(link, path, pages))
    ]


def problem_with(link, path, pages):
    """Say what is wrong with a link on a page, or nothing."""
    parts = urlsplit(link)
    if parts.scheme in {"data", "mailto"}:
        return None
    if parts.scheme or parts.netloc:
        fine = parts.scheme == "https" and "." in parts.netloc
        return None if fine else "is no address of a public page"
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_file():
        return "leads to no file"
    if target in pages and unquote(parts.fragment) not in pages[target].places:
        return "leads to no place on its page"
    return None


if __name__ == "__main__":
    problems = broken_links(Path(sys.argv[1]))
    sys.exit("\n".join(problems) or 0)
