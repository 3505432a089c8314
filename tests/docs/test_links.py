"""No link between pages is dead, and those that lead away look like addresses."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from .pages import DOCS, ROOT, Page, all_pages

PAGES = all_pages()


def anchor(heading: str) -> str:
    """Return a heading's anchor on the site; see `toc` of Python-Markdown."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*_]", r"\1", heading)
    kept = re.sub(r"[^\w\s-]", "", text.encode("ascii", "ignore").decode()).strip().lower()
    return re.sub(r"[-\s]+", "-", kept)


def anchor_on_github(heading: str) -> str:
    """Return a heading's anchor where the repository is browsed."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*_]", r"\1", heading)
    return re.sub(r"[^\w\s-]", "", text).strip().lower().replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.path.relative_to(ROOT)))
def test_a_link_leads_somewhere(page: Page) -> None:
    for link in page.links():
        if link.startswith(("http://", "https://")):
            assert urlsplit(link).hostname, link
            continue
        name, _, place = link.partition("#")
        target = (page.path.parent / name).resolve() if name else page.path
        assert target.exists(), f"{page.path.name}: {link}: there is no such file"
        assert target.is_relative_to(ROOT), link
        if place:
            headings = Page.read(target).headings()
            assert place in {anchor(each) for each in headings}, f"{page.path.name}: {link}"
            assert place in {anchor_on_github(each) for each in headings}, f"not on GitHub: {link}"


def test_every_page_is_in_the_navigation() -> None:
    named = set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    there = {
        str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md") if "examples" not in path.parts
    }
    assert named - {"reference/cli.md"} == there


@pytest.mark.parametrize(
    ("heading", "there"),
    [("Why not the maximum over val?", "why-not-the-maximum-over-val"), ("`a` & b", "a-b")],
)
def test_anchors_are_made_as_the_site_makes_them(heading: str, there: str) -> None:
    from importlib.util import find_spec

    assert anchor(heading) == there
    if find_spec("markdown"):
        from markdown.extensions.toc import slugify

        assert slugify(re.sub("`", "", heading), "-") == there


def test_what_the_code_says_of_the_documentation_is_there() -> None:
    layers = ("agents", "simulation", "rubrics", "optimizer", "experiments")
    texts = [
        path.read_text(encoding="utf-8") for at in layers for path in Path(ROOT / at).rglob("*.py")
    ]
    for name in set(re.findall(r"docs/([\w/-]+\.md)", "\n".join(texts))):
        assert (DOCS / name).is_file(), name
