"""The journal: every result that cost a model call, by the content that determines it.

It is the only state of a run. Resuming is running the same command again: what is in the
journal is read back, so the run takes the same way and pays for nothing twice.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any, Self

from ..agents.errors import CotuneError
from ..agents.fingerprint import canonical_json, fingerprint

_SETTINGS = (
    "busy_timeout=1000",
    "locking_mode=EXCLUSIVE",  # before the file is first read, so that no other run gets it
    "journal_mode=WAL",
    "synchronous=NORMAL",
)
_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS results (
        key TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        content TEXT NOT NULL,
        written TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE IF NOT EXISTS notes (
        name TEXT PRIMARY KEY,
        content TEXT NOT NULL
    ) WITHOUT ROWID
    """,
)


class Journal:
    """A SQLite file in write-ahead mode; a killed process loses nothing that was put.

    Results are immutable: the first one put under a key stays. Notes are small facts about the
    run itself, such as the id of its MLflow run, and may change. One run uses a journal at a
    time, because two would pay for the same work; the lock ends with the process, however it
    ends.
    """

    def __init__(self, path: Path) -> None:
        """Open or create the journal.

        Raises:
            CotuneError: The file cannot be written, is not a journal, or another run uses it.
        """
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from error
        try:
            for setting in _SETTINGS:
                self._execute(f"PRAGMA {setting}")
            for table in _TABLES:
                self._execute(table)
        except CotuneError:
            self._db.close()
            raise

    @staticmethod
    def key(kind: str, content: object) -> str:
        """Return the key of a result: its kind and the hash of what determines it."""
        return f"{kind}:{fingerprint(content, 32)}"

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the result under `key`, or None."""
        rows = self._execute("SELECT content FROM results WHERE key = ?", key)
        return json.loads(rows[0][0]) if rows else None

    def put(self, key: str, result: dict[str, Any]) -> None:
        """Write a result before it is used; the first one under a key stays."""
        kind = key.partition(":")[0]
        self._execute(
            "INSERT OR IGNORE INTO results (key, kind, content) VALUES (?, ?, ?)",
            key,
            kind,
            canonical_json(result),
        )

    def keep(self, key: str, result: dict[str, Any]) -> dict[str, Any]:
        """Write a result, and return it as every later run will read it.

        The order of fields is lost in the journal; a run that goes on with what it wrote, and not
        with what it will read, could take another way when it is resumed.
        """
        self.put(key, result)
        return self.get(key) or result

    def count(self, kind: str) -> int:
        """Return how many results of a kind there are."""
        return self._execute("SELECT count(*) FROM results WHERE kind = ?", kind)[0][0]

    def note(self, name: str) -> str | None:
        """Return the note `name`, or None."""
        rows = self._execute("SELECT content FROM notes WHERE name = ?", name)
        return rows[0][0] if rows else None

    def write_note(self, name: str, content: str) -> None:
        """Write or replace the note `name`."""
        self._execute("REPLACE INTO notes (name, content) VALUES (?, ?)", name, content)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _execute(self, statement: str, *values: str) -> list[Any]:
        try:
            return self._db.execute(statement, values).fetchall()
        except sqlite3.ProgrammingError:
            raise
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> CotuneError:
        if "locked" in str(error):
            return CotuneError(
                f"The journal {self.path} is in use by another run. Wait for that run or stop "
                "it, then repeat the command; or give this run a folder of its own with --out."
            )
        return CotuneError(
            f"The journal {self.path} cannot be used ({error}). Choose a folder that can be "
            "written with --out, or remove the file if it is damaged."
        )
