"""The pages of the documentation as the tests read them: blocks of code, headings, links.

A block is marked by a comment on a line above it, which readers of the site do not see:

    <!-- not run: needs a key -->      it is looked at, and not run
    <!-- exit code: 1 -->              its last command ends with this code

`title="FILE"` after the language makes a block a file's content, and a block `text` right after
commands is what they print. `<!-- goes on from PAGE -->` begins a page in the folder in which
another one ends, `<!-- begins with labels -->` in one with conversations and what people say of
them; see `labels.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

RUN = ("sh", "python")
"""Languages of the blocks that are run."""

_FENCE = re.compile(r'^ *```(?P<language>\w*)(?: title="(?P<title>[^"]+)")?$')
_MARK = re.compile(r"^ *<!-- (?P<name>not run|exit code): (?P<value>.+) -->$")
_BEFORE = re.compile(r"^<!-- goes on from (\S+) -->$", re.MULTILINE)
_LABELS = "<!-- begins with labels -->"
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"`[^`\n]+`")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block.

    Attributes:
        page: The file it stands in.
        line: Of its fence, from 1.
        language: What stands after the fence.
        title: Name of the file whose content it is, or empty.
        text: What is in it.
        not_run: Why it is not run; empty when it is.
        code: Exit code of its last command.
        follows: Whether it stands right after one that is run.
    """

    page: Path
    line: int
    language: str
    title: str
    text: str
    not_run: str
    code: int
    follows: bool

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


@dataclass(frozen=True, slots=True)
class Page:
    """A Markdown file."""

    path: Path
    text: str

    @classmethod
    def read(cls, path: Path) -> Page:
        return cls(path, path.read_text(encoding="utf-8"))

    @property
    def before(self) -> str:
        """The page in whose folder this one goes on; empty for a folder of its own."""
        found = _BEFORE.search(self.text)
        return found[1] if found else ""

    @property
    def has_labels(self) -> bool:
        """Whether it begins in a folder with labelled conversations."""
        return _LABELS in self.text

    def blocks(self) -> Iterator[Block]:
        marks: dict[str, str] = {}
        follows = False
        lines = iter(enumerate(self.text.splitlines(), 1))
        for number, line in lines:
            if fence := _FENCE.match(line):
                text = "\n".join(_until_the_end(lines))
                not_run, code = marks.get("not run", ""), int(marks.get("exit code", 0))
                language, title = fence["language"], fence["title"] or ""
                yield Block(self.path, number, language, title, text, not_run, code, follows)
                marks, follows = {}, language in RUN
            elif mark := _MARK.match(line):
                marks[mark["name"]] = mark["value"]
            elif line.strip():
                marks, follows = {}, False

    def links(self) -> list[str]:
        return _LINK.findall(_CODE.sub("", self._prose()))

    def headings(self) -> list[str]:
        return re.findall(r"^#+ (.+)$", self._prose(), re.MULTILINE)

    def _prose(self) -> str:
        return re.sub(r"^ *```.*?^ *```$", "", self.text, flags=re.MULTILINE | re.DOTALL)


def _until_the_end(lines: Iterator[tuple[int, str]]) -> Iterator[str]:
    for _, line in lines:
        if line.strip() == "```":
            return
        yield line


def all_pages() -> list[Page]:
    """Read every page, the README among them."""
    return [Page.read(path) for path in (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))]


def commands(text: str) -> Iterator[list[str]]:
    """Yield the commands of a block of shell, as words, without comments."""
    import shlex

    for line in text.replace("\\\n", " ").splitlines():
        for part in line.split(" && "):
            if words := shlex.split(part, comments=True):
                yield words
