# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Chromium without a window, controlled over a pipe (--remote-debugging-pipe): a page, its mouse, its console.

Place: used by the tests of pages: that of verbs-trace --html, and the report of bench/compare. Contract: every wait has a limit; end() leaves no
process. Needs the package chromium.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LIMIT = 120
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
# The protocol uses descriptors 3 and 4.
REDIRECT = 'exec "$@" 3<&"$IN" 4>&"$OUT"'


class Browser:
    """One page."""

    def __init__(self) -> None:
        """Starts the browser."""
        program = shutil.which("chromium")
        if not program:
            raise FileNotFoundError("chromium is not installed: apt-get install chromium")
        self.deadline = time.monotonic() + LIMIT
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self.to = os.pipe()
        self.back, theirs_out = os.pipe()
        size = "--window-size=1400,1000"
        words = [program, *OPTIONS, size, f"--user-data-dir={self.profile.name}", "--remote-debugging-pipe", "about:blank"]
        self.process = subprocess.Popen(
            ["bash", "-c", REDIRECT, "bash", *words],
            env={**os.environ, "IN": str(theirs_in), "OUT": str(theirs_out)},
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.number, self.read, self.session = 0, b"", ""
        self.events: list[dict[str, Any]] = []
        page = next(t for t in self.ask("Target.getTargets")["targetInfos"] if t["type"] == "page")
        attached = self.ask("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def _receive(self) -> dict[str, Any]:
        """Returns the browser's next message."""
        while b"\0" not in self.read:
            left = self.deadline - time.monotonic()
            if left <= 0 or not select.select([self.back], [], [], left)[0]:
                raise TimeoutError("the browser says nothing")
            more = os.read(self.back, 1 << 20)
            if not more:
                raise ConnectionError("the browser has ended")
            self.read += more
        text, self.read = self.read.split(b"\0", 1)
        message: dict[str, Any] = json.loads(text)
        return message

    def ask(self, method: str, **params: object) -> Any:
        """Calls a method of the protocol, and returns its result. Events that come meanwhile go to `events`."""
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        while True:
            message = self._receive()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def open(self, path: Path, ready: str = "true") -> None:
        """Loads a file, and waits until this expression is true."""
        self.ask("Page.navigate", url=path.resolve().as_uri())
        loaded = f"location.href === {json.dumps(path.resolve().as_uri())} && document.readyState === 'complete' && {ready}"
        self.until(lambda: self.value(loaded))

    def show(self, width: int, height: int, theme: str) -> None:
        """Sets the size of the window in pixels, and the theme that the reader prefers: light or dark."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])

    def until(self, condition: Callable[[], object]) -> None:
        """Waits until the expression is true."""
        while not condition():
            if time.monotonic() > self.deadline:
                raise TimeoutError("what the page should show does not come")
            time.sleep(0.02)

    def value(self, expression: str) -> Any:
        """Returns the value of a JavaScript expression in the page."""
        found = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(f"{expression}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def mouse(self, kind: str, x: float, y: float, **more: object) -> None:
        """Makes an event of the mouse, at a point of the window."""
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def complaints(self) -> list[str]:
        """Returns exceptions, errors and warnings of the console, and each fetch of anything but the page."""
        self.value("0")  # by then, the browser has reported earlier events
        found = []
        for event in self.events:
            params = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(str(params["exceptionDetails"]))
            elif event.get("method") == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(params["entry"]["text"])
            elif event.get("method") == "Runtime.consoleAPICalled":
                found.append(str(params["args"]))
            elif event.get("method") == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith(("file:", "data:", "about:")):
                    found.append(f"fetches {url}")
        return found

    def end(self) -> None:
        """Kills all processes of the browser: they have a session of their own."""
        os.close(self.to)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.back)
        self.profile.cleanup()
