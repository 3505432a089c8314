"""Runs a page of the documentation as a reader would: block after block, in one folder."""

from __future__ import annotations

import difflib
import os
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..forked_commands import Commands
from .pages import RUN, Block, Page, commands

WIDTH = {"COLUMNS": "80"}
PORT = "8377"
"""Of the model that the tutorial starts; here it is the environment's MODEL_PORT."""


def _environment() -> dict[str, str]:
    """Return that of a reader, without what MLflow has put into that of the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MLFLOW_")}
    return {**kept, **WIDTH}


@dataclass
class Reader:
    """Somebody who follows a page.

    Attributes:
        commands: What runs their commands.
        folder: Where the page begins.
        tables: An SQLite file with MLflow's tables, which take seconds to make.
        place: Where they are now.
        environment: As far as they have changed it.
        background: What they have started with `&`.
    """

    commands: Commands
    folder: Path
    tables: Path
    environment: dict[str, str] = field(default_factory=_environment)
    background: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.place = self.folder
        self._said = ""

    def follow(self, page: Page) -> None:
        """Do all that a page says."""
        for block in page.blocks():
            if block.title:
                self._write(block)
            elif block.not_run:
                self._said = ""
            elif block.language in RUN:
                self._said = self._run(block)
            elif block.language == "text" and block.follows and self._said:
                require_alike(block, self._said)

    def stop(self) -> None:
        """End what runs in the background."""
        for each in self.background:
            each.kill()
            each.wait()

    def _write(self, block: Block) -> None:
        path = self.place / block.title
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text + "\n", encoding="utf-8")

    def _run(self, block: Block) -> str:
        if block.language == "python":
            code, said = self._ask(program=block.text)
            assert code == block.code, f"{block}: exit code {code}\n{said}"
            return said
        said, code = "", 0
        for words in commands(block.text):
            assert code == 0, f"{block}: exit code {code} before {words}\n{said}"
            code, more = self._type(words)
            said += more
        assert code == block.code, f"{block}: exit code {code}\n{said}"
        return said

    def _type(self, words: list[str]) -> tuple[int, str]:
        match words:
            case ["cd", folder]:
                self.place = self.place / folder
                return 0, ""
            case ["export", *pairs]:
                port = self.environment.get("MODEL_PORT", PORT)
                self.environment |= dict(pair.replace(PORT, port).split("=", 1) for pair in pairs)
                return 0, ""
            case ["cotune", *rest]:
                return self._ask(words=self._found(rest))
            case [*program, "&"]:
                self._start(program)
                return 0, ""
            case [*program, ">", file]:
                code, said = self._shell(program)
                (self.place / file).write_text(said, encoding="utf-8")
                return code, ""
            case _:
                return self._shell(words)

    def _found(self, words: list[str]) -> list[str]:
        """Put in what a shell would find for a `*`."""
        found: list[str] = []
        for word in words:
            paths = sorted(self.place.glob(word)) if "*" in word else []
            found += [str(path.relative_to(self.place)) for path in paths] or [word]
        return found

    def _ask(self, **asked: Any) -> tuple[int, str]:
        if not (self.place / "mlflow.db").exists():
            shutil.copy(self.tables, self.place / "mlflow.db")
        return self.commands.run(
            self.folder.with_suffix(".output"),
            folder=str(self.place),
            environment=self.environment,
            **asked,
        )

    def _start(self, program: list[str]) -> None:
        program = [sys.executable if word == "python" else word for word in program]
        self.background.append(subprocess.Popen(program, cwd=self.place, env=self.environment))
        _wait_for(int(self.environment["MODEL_PORT"]))

    def _shell(self, words: list[str]) -> tuple[int, str]:
        words = [sys.executable if word == "python" else word for word in self._found(words)]
        done = subprocess.run(
            words, cwd=self.place, env=self.environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr


def _wait_for(port: int) -> None:
    """Wait until something listens on a port."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"nothing listens on port {port}")


def require_alike(block: Block, said: str) -> None:
    """Require that a block is what was printed; `…` stands for anything, spaces do not count."""
    rest = " ".join(said.split())
    for piece in block.text.split("…"):
        wanted = " ".join(piece.split())
        at = rest.find(wanted)
        assert at >= 0, f"{block}: not what is printed\n" + "\n".join(
            difflib.unified_diff(block.text.splitlines(), said.splitlines(), "page", "printed")
        )
        rest = rest[at + len(wanted) :]
