"""Pages: HTML from the templates, in which everything is escaped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template


def page_template(name: str, **filters: Callable[..., Any]) -> Template:
    """Return a template of ours; what is rendered into it is escaped, and nothing may be missing.

    Args:
        name: The template's file.
        **filters: Functions that it uses by name.
    """
    environment = Environment(
        loader=PackageLoader(__package__ or "", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= filters
    return environment.get_template(name)
