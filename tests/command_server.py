"""Forks a process for each command it reads, so that what they all import is imported once.

It reads a JSON object a line: `folder`, `environment`, `output` (a file), and either `words` of a
command line of cotune or the text of a `program`. It writes the exit code.
"""

from __future__ import annotations

import ast
import asyncio
import importlib
import inspect
import json
import os
import sys
import traceback
from typing import Any

from cotune.experiments import cli

HEAVY = (
    "alembic.command", "gepa", "git", "mlflow.store.tracking.sqlalchemy_store", "openai.resources",
    "pandas", "plotly.graph_objects",
    "cotune.experiments.commands.compare", "cotune.experiments.commands.doctor",
    "cotune.experiments.commands.judge", "cotune.experiments.commands.optimize",
    "cotune.experiments.commands.simulate", "cotune.experiments.report",
    "cotune.experiments.tracking",
)  # fmt: skip


def run_command(words: list[str]) -> None:
    sys.argv = ["cotune", *words]
    cli.main()


def run_program(text: str) -> None:
    code = compile(text, "<page>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    sys.path.insert(0, os.getcwd())
    names: dict[str, Any] = {"__name__": "__main__"}
    if code.co_flags & inspect.CO_COROUTINE:
        asyncio.run(eval(code, names))  # noqa: S307  # our own pages
    else:
        exec(code, names)  # noqa: S102


def run(asked: dict[str, Any]) -> int:
    """Run what was asked for in this process; returns its exit code."""
    output = os.open(asked["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    try:
        run_program(asked["program"]) if "program" in asked else run_command(asked["words"])
    except SystemExit as end:
        return int(end.code or 0)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def serve() -> None:
    for name in HEAVY:
        importlib.import_module(name)
    cli.add_groups()
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            code = run(json.loads(line))
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


if __name__ == "__main__":
    serve()
