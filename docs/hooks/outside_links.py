"""A link to a file of the repository outside of `docs/` becomes the file's name on the site."""

from __future__ import annotations

import re
from typing import Any

_OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?!\w+\.md)([^)#]+)\)")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace such links; on the site there is nothing that they could lead to."""
    return _OUTSIDE.sub(r"`\2`", markdown)
