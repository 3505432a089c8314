"""The site builds without a warning, and asks nobody for anything when it is read."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from .pages import ROOT

pytestmark = pytest.mark.skipif(find_spec("mkdocs") is None, reason="needs the extra docs")
# What a page loads by itself; a link that is followed is not among it.
LOADED = re.compile(r"""<(?:script|img|iframe|source)[^>]+src=["']?(https?:[^"'\s>]+)""")
STYLES = re.compile(r"""<link[^>]+rel=["']?(?:stylesheet|preconnect|icon)[^>]*>""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


def test_the_commands_are_described_from_their_own_help(site: Path) -> None:
    page = (site / "reference" / "cli" / "index.html").read_text(encoding="utf-8")
    for name in ("cotune optimize system", "cotune prompts promote", "cotune compare"):
        assert f"{name}</h2>" in re.sub(r"<a class=\"headerlink\".*?</a>", "", page)
    assert "--require-calibrated" in page


def test_the_classes_are_described_from_their_docstrings(site: Path) -> None:
    page = (site / "reference" / "agents" / "index.html").read_text(encoding="utf-8")
    assert 'id="cotune.agents.prompts.PromptBundle"' in page


def test_reading_it_asks_nobody_for_anything(site: Path) -> None:
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not LOADED.findall(text), path
        assert not [tag for tag in STYLES.findall(text) if "http" in tag], path


def test_it_can_be_searched(site: Path) -> None:
    index = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    assert "winner's curse" in index
