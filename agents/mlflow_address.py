"""MLflow's addresses: where one leads to, and whether that answers; MLflow is not imported."""

from __future__ import annotations

import socket
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

_SQLITE = "sqlite:///"
_PORTS = {"http": 80, "https": 443}
_SECONDS_TO_ANSWER = 5.0


def is_remote(uri: str) -> bool:
    """Whether a tracking URI leads to a server."""
    return urlsplit(uri).scheme in _PORTS


def sqlite_path(uri: str) -> Path | None:
    """Return the file of a database URI; None for any other."""
    return Path(uri.removeprefix(_SQLITE).partition("?")[0]) if uri.startswith(_SQLITE) else None


def require_mlflows(path: Path) -> None:
    """Look whether a database is MLflow's: into another program's it would put its own tables.

    Raises:
        sqlite3.Error: It is another program's, or no database.
    """
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
        found = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        tables = {name for (name,) in found}
    if tables and "experiments" not in tables:
        raise sqlite3.DatabaseError("it is the database of another program")


def require_answering(uri: str) -> None:
    """Look whether something listens at a server's address: MLflow would try for minutes.

    Raises:
        OSError: Nothing does. A server behind a proxy is not looked for.
    """
    parts = urlsplit(uri)
    host = parts.hostname or ""
    if parts.scheme in getproxies() and not proxy_bypass(host):
        return
    with socket.create_connection((host, parts.port or _PORTS[parts.scheme]), _SECONDS_TO_ANSWER):
        pass


def first_line(error: Exception) -> str:
    """Return what an error says first."""
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
