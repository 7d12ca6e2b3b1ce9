# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The page that verbs-trace --html makes, in Chromium: lanes, zoom, drag, hover, table, themes; no error on its
console."""

import atexit
import functools
import json
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

import pytest

from browser import Browser
from scene import FIRST, ROUND, STEP, TRANSFER, packets, ping_pong
from tracing import LIMIT, TOOL, run

pytestmark = pytest.mark.long

ROUNDS = 5
LARGE = 100_000 // 9


class Shared:
    """One browser and two pages for all tests."""

    def __init__(self) -> None:
        """Draws the pages, starts the browser."""
        self.scratch = tempfile.TemporaryDirectory()
        for name, rounds in (("small", ROUNDS), ("large", LARGE)):
            sides = ping_pong(rounds, fails=True)
            paths = [side.write(Path(self.scratch.name, f"{name}{n}.json")) for n, side in enumerate(sides)]
            ended = run(TOOL, "--html", Path(self.scratch.name, f"{name}.html"), *paths)
            assert ended.returncode == 0, ended.stderr
        captured = Path(self.scratch.name, "packets.json")
        captured.write_text(json.dumps(packets(ROUNDS)))
        sides = ping_pong(ROUNDS)
        paths = [side.write(Path(self.scratch.name, f"between{n}.json")) for n, side in enumerate(sides)]
        ended = run(TOOL, "--html", Path(self.scratch.name, "between.html"), "--packets", captured, *paths)
        assert ended.returncode == 0, ended.stderr
        self.browser = Browser()
        atexit.register(self.end)

    def end(self) -> None:
        """Ends the browser, and removes the pages."""
        self.browser.end()
        self.scratch.cleanup()


@functools.cache
def shared() -> Shared:
    """Returns the browser and pages, made when the first test needs them."""
    return Shared()


class Page(unittest.TestCase):
    """Each test loads the page anew."""

    def setUp(self) -> None:
        """Begins a test, with a bound on its time."""
        self.browser, self.scratch = shared().browser, shared().scratch
        self.browser.deadline = time.monotonic() + LIMIT

    def load(self, name: str = "small") -> None:
        """Loads the page, which has no complaints yet."""
        self.browser.events.clear()
        self.browser.open(Path(self.scratch.name, f"{name}.html"), "!!window.picture")
        self.drawn()

    def tearDown(self) -> None:
        """After each test the console is empty, and nothing came from a network."""
        self.assertEqual(self.browser.complaints(), [])

    def value(self, expression: str) -> Any:
        """Returns a value of the page, where `view` and `drawing` are members of window.picture."""
        return self.browser.value(f"(({{ view, drawing, trace }}) => {expression})(window.picture)")

    def drawn(self) -> None:
        """Waits until the page has drawn all changes."""
        waits = "window.frames_seen = 0; requestAnimationFrame(() => requestAnimationFrame(() => window.frames_seen = 1))"
        self.browser.value(waits)
        self.browser.until(lambda: self.browser.value("window.frames_seen"))

    def point(self, time: float, lane: int, below: float) -> tuple[float, float]:
        """Returns the point of the window for a time of a lane, this many pixels below the lane's upper edge."""
        where = f"""{{
            const box = document.getElementById("canvas").getBoundingClientRect(), row = view.laneRows[{lane}];
            return [box.left + view.x({time}), box.top + row.y + {below} - view.scroll];
        }}"""
        x, y = self.value(where)
        return x, y

    def colour(self, x: float, y: float) -> list[int]:
        """Returns the colour of the pixel at a point."""
        found: list[int] = self.value(f"""{{
            const canvas = document.getElementById("canvas"), box = canvas.getBoundingClientRect();
            const scale = window.devicePixelRatio || 1;
            const copy = document.createElement("canvas").getContext("2d", {{ willReadFrequently: true }});
            copy.drawImage(canvas, -Math.floor(({x} - box.left) * scale), -Math.floor(({y} - box.top) * scale));
            return [...copy.getImageData(0, 0, 1, 1).data];
        }}""")
        return found

    def css(self, name: str) -> list[int]:
        """Returns a colour of the page's theme."""
        text = self.value(f'getComputedStyle(document.documentElement).getPropertyValue("--{name}").trim()')
        return [int(text[i : i + 2], 16) for i in (1, 3, 5)] + [255]

    def show(self, begin: float, end: float) -> None:
        """Shows this part of the run."""
        self.value(f"view.show({begin}, {end})")
        self.browser.value("redraw()")
        self.drawn()

    def hover(self, x: float, y: float) -> str:
        """Returns the text that the page shows for the point, or nothing."""
        self.browser.mouse("mouseMoved", x, y)
        text: str = self.browser.value('document.getElementById("tip").hidden ? "" : document.getElementById("tip").textContent')
        return text

    def test_packets(self) -> None:
        """Packets are drawn between the programs, each at its time; the text under the mouse has all its lines."""
        self.load("between")
        heads = self.value("view.rows.filter((r) => r.kind === 'head').map((r) => r.text.trim()).slice(0, 3)")
        self.assertEqual([head.split()[0] for head in heads], ["client", "the", "server"])
        self.show(FIRST, FIRST + ROUND)
        x, y = self.point(FIRST + TRANSFER / 2, 2, 9)
        self.assertEqual(self.colour(x + 1, y), self.css("call"))
        self.assertRegex(self.hover(x, y), r"SEND Only, PSN 0\s*64 bytes$")
        x, y = self.point(FIRST + TRANSFER / 2 + 1000, 2, 9)
        self.assertEqual(self.colour(x + 1, y), self.css("error"))

    def test_lanes(self) -> None:
        """A lane for each thread, drawn in its colours at its times."""
        self.load()
        self.assertEqual(self.value("view.rows.filter((r) => r.kind === 'lane').length"), 2)
        self.assertEqual(self.browser.value("document.title"), "verbs-trace: client, server")
        self.show(FIRST - STEP, FIRST + ROUND)
        middle = STEP / 20
        self.assertEqual(self.colour(*self.point(FIRST + middle, 0, 9)), self.css("call"))
        self.assertEqual(self.colour(*self.point(FIRST + 3.5 * STEP, 0, 3)), self.css("sleep"))
        self.assertEqual(self.colour(*self.point(FIRST + TRANSFER, 0, 21)), self.css("send"))
        self.assertEqual(self.colour(*self.point(FIRST + 2.2 * STEP, 0, 9)), self.css("lane"))

    def test_error_is_red(self) -> None:
        """The failed poll, its work request, and the button that leads there."""
        self.load()
        self.browser.value('document.getElementById("error").click()')
        self.drawn()
        failed = FIRST + (ROUNDS - 1) * ROUND
        seen = self.value("[view.begin, view.end]")
        self.assertTrue(seen[0] < failed < seen[1], seen)
        self.show(failed, failed + 3 * STEP)
        self.assertEqual(self.colour(*self.point(failed + TRANSFER + 0.45 * STEP, 0, 9)), self.css("error"))
        self.assertEqual(self.colour(*self.point(failed + STEP, 0, 21)), self.css("error"))

    def test_hover(self) -> None:
        """A call, a work request, a message and an object have the trace's text; other points have none."""
        self.load()
        self.show(FIRST - STEP, FIRST + ROUND)
        told = self.hover(*self.point(FIRST + STEP / 20, 0, 9))
        self.assertIn("ibv_post_send(qp1, [{wr_id 0x0, SEND, flags SIGNALED, sge [{addr 0x2000, length 64", told)
        self.assertIn("<1 µs>", told)
        told = self.hover(*self.point(FIRST + STEP, 0, 21))
        self.assertIn("SEND on qp1: {wr_id 0x0", told)
        self.assertIn("SUCCESS <25 µs>", told)
        x, y = self.value('view.line(0)[0]')[:2]
        half = self.value("{ const [x0, y0, x1, y1] = view.line(0)[0]; return [(x0 + x1) / 2, (y0 + y1) / 2]; }")
        self.assertGreater(half[0], x)
        self.assertGreater(half[1], y)
        box = self.browser.value('(({left, top}) => [left, top])(document.getElementById("canvas").getBoundingClientRect())')
        told = self.hover(box[0] + half[0], box[1] + half[1])
        self.assertIn("20 µs from post to the poll that found it", told)
        row = self.value("view.rows.find((r) => r.kind === 'object' && r.object.name === 'qp1').y")
        told = self.hover(box[0] + 600, box[1] + row + 7)
        for part in ("qp1, for", "rdma_create_qp(", "rdma_destroy_qp(id1)", "INIT", "RTR", "RTS"):
            self.assertIn(part, told)
        self.assertEqual(self.hover(*self.point(FIRST + 2.2 * STEP, 0, 9)), "")

    def test_wheel_zooms(self) -> None:
        """The wheel zooms around the mouse: the time under it stays there."""
        self.load()
        x, y = self.point(FIRST, 0, 9)
        before = self.value("view.end - view.begin")
        for _ in range(5):
            self.browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=-200)
        self.drawn()
        after = self.value("view.end - view.begin")
        self.assertAlmostEqual(after / before, 1.0015**-1000, places=3)
        self.assertAlmostEqual(self.point(FIRST, 0, 9)[0], x, delta=1.5)
        self.browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=1000)
        self.assertAlmostEqual(self.value("view.end - view.begin") / before, 1, places=2)

    def test_zoom_has_limits(self) -> None:
        """Zoom in and zoom out both have an end."""
        self.load()
        x, y = self.point(FIRST, 0, 9)
        self.browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=-100_000)
        self.drawn()
        self.assertEqual(self.value("Math.round(view.end - view.begin)"), 20)
        self.browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=200_000)
        self.drawn()
        self.assertLessEqual(self.value("(view.end - view.begin) / trace.end"), 2)
        self.browser.value('document.getElementById("fit").click()')
        self.assertAlmostEqual(self.value("(view.end - view.begin) / trace.end"), 1.02, places=2)

    def test_drag_moves(self) -> None:
        """The picture moves by as many pixels as the mouse."""
        self.load()
        self.show(FIRST, FIRST + 3 * ROUND)
        x, y = self.point(FIRST + ROUND, 0, 9)
        self.browser.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        for step in (30, 60, 100):
            self.browser.mouse("mouseMoved", x - step, y, button="left", buttons=1)
        self.browser.mouse("mouseReleased", x - 100, y, button="left", clickCount=1)
        self.drawn()
        self.assertAlmostEqual(self.point(FIRST + ROUND, 0, 9)[0], x - 100, delta=1.5)

    def test_keys(self) -> None:
        """The keys are + and 0."""
        self.load()
        self.browser.value('document.getElementById("canvas").focus()')
        before = self.value("view.end - view.begin")
        self.browser.ask("Input.dispatchKeyEvent", type="keyDown", key="+", text="+")
        self.assertAlmostEqual(self.value("view.end - view.begin") / before, 0.7, places=3)
        self.browser.ask("Input.dispatchKeyEvent", type="keyDown", key="0", text="0")
        self.assertAlmostEqual(self.value("view.end - view.begin") / before, 1, places=3)

    def test_table(self) -> None:
        """A click on a row shows its longest time."""
        self.load()
        rows = '[...document.querySelectorAll("#table tr")]'
        self.assertEqual(self.browser.value(f"{rows}.length"), self.value("trace.table.length"))
        clicked = f"{rows}.find((r) => r.cells[1].textContent === 'client' && r.cells[2].textContent === 'poll')"
        self.browser.value(f"{clicked}.click()")
        self.drawn()
        longest = self.value("trace.table.find((r) => r.process === 0 && r.name === 'poll')")
        seen = self.value("[view.begin, view.end]")
        self.assertTrue(seen[0] < longest["at"] and longest["at"] + longest["max"] < seen[1], seen)
        self.assertEqual(self.colour(*self.point(longest["at"] + longest["max"] / 2, 0, 3)), self.css("sleep"))

    def test_themes(self) -> None:
        """The user's preference, and the button."""
        for dark in (True, False):
            scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
            self.browser.ask("Emulation.setEmulatedMedia", features=scheme)
            self.load()
            back = 'getComputedStyle(document.body).backgroundColor'
            colours = ["rgb(20, 23, 28)", "rgb(255, 255, 255)"]
            self.assertEqual(self.browser.value(back), colours[not dark])
            self.browser.value('document.getElementById("theme").click()')
            self.drawn()
            self.assertEqual(self.browser.value(back), colours[dark])
            self.assertEqual(self.colour(*self.point(FIRST, 1, -4)), self.css("back"))

    def test_large(self) -> None:
        """
        A page of 100,000 calls draws no more than the width has room for, for the whole run and for a
        part of it, and the last call can be found.
        """
        self.load("large")
        width = self.value("view.width")
        most = 10 * width  # lanes, kinds of bars and messages, each at most once a pixel
        self.assertLess(self.value("{ drawing.draw(); return drawing.strokes; }"), most)
        last = FIRST + (LARGE - 2) * ROUND
        self.show(last - 100 * ROUND, last)
        self.assertLess(self.value("{ drawing.draw(); return drawing.strokes; }"), most)
        self.show(last - STEP, last + ROUND)
        self.assertIn(f"wr_id {hex(LARGE - 2)}, SEND", self.hover(*self.point(last + STEP / 20, 0, 9)))
