"""Stands in for the real runtime: no model, the same life cycle, in milliseconds.

A model file that says `refuse` makes it fail as the real one does on a file it cannot read, one
that says `never` makes it never ready, and one that says `stubborn` makes it ignore SIGTERM.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace


class CommonParams(SimpleNamespace):
    def __init__(self) -> None:
        super().__init__(
            model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace()
        )


class Server:
    def __init__(self, parameters: CommonParams) -> None:
        behaviour = Path(parameters.model.path).read_text(encoding="utf-8")
        if behaviour == "refuse":
            print("failed to load model", file=sys.stderr)
            raise RuntimeError("Failed to init server")
        if behaviour == "never":
            time.sleep(600)
        if behaviour == "stubborn":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        (alias,) = parameters.model_alias
        server = ThreadingHTTPServer(("127.0.0.1", parameters.port), _handler(alias))
        self.listening_address = f"http://127.0.0.1:{parameters.port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()


def _handler(alias: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps({"data": [{"id": alias}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
