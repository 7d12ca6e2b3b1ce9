# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The report of bench/compare in Chromium, on a phone, a laptop and a large screen, light and dark.

Place: only make check-long runs it; needs the package chromium. The figures are made up.
"""

from __future__ import annotations

import atexit
import functools
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from comparing.made_up import NOISE, OWN, WILD, carried, results, sample
from comparing.test_answers import crowd, together
from bench.comparison import page
from bench.comparison.plan import Point
from bench.comparison.store import Results
from support.browser import Browser

pytestmark = pytest.mark.long

WINDOWS = ((360, 740), (1280, 900), (1920, 1080))
THEMES = ("light", "dark")
CONTRAST = 4.5  # WCAG 2, level AA
# Of each text that is shown outside of what scrolls by itself: its box, the size of its letters, its colour and opacity.
LOOK = """(() => {
    const texts = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
    for (let node; (node = walk.nextNode()); ) {
        const of = node.parentElement, style = getComputedStyle(of);
        range.selectNodeContents(node);
        const box = range.getBoundingClientRect();
        if (!node.data.trim() || !box.width || of.closest(".wide, pre, title")) continue;
        const svg = of.closest("svg"), frame = svg ? svg.getBoundingClientRect() : { left: 0, top: 0, right: innerWidth, bottom: 1e9 };
        texts.push({ text: node.data, svg: !!svg, colour: svg ? style.fill : style.color, box: [box.left, box.top, box.right, box.bottom],
            out: box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1 });
    }
    const place = (what) => [...document.querySelectorAll(what)].filter((one) => one.getClientRects().length)
        .map((one) => one.getBoundingClientRect()).map((box) => [box.top, box.bottom]);
    return { texts, wide: document.documentElement.scrollWidth, paper: getComputedStyle(document.body).backgroundColor,
        title: place("h1"), table: place(".t"), picture: place("figure"), folds: place("details") };
})()"""


def quiet() -> Results:
    """All three ways; the one that spins costs little more than sleeping, and is as fast as polling."""
    made = carried(results(), 10000, 3000.0)
    made.environment.update({"cpus": 2, "label": "quiet"})
    for one in made.samples:
        if one.point == Point("ping-sr-3", 10000):
            one.figures["machine_cpus"] = 1.2 * NOISE[one.round - 1] + OWN
    for number in range(1, 6):
        for load, rate, cpus, p50 in ((1, 1, 0.001, 350), (100, 100, 0.06, 360), (1000, 1000, 1.1, 320), (0, 29000, 2.0, 31)):
            made.samples.append(sample("ping-sr-5", load, number, rate, cpus, p50))
    return made


def noisy() -> Results:
    """Something else used the CPUs: rounds differ, and no way carries 1,000 messages a second."""
    made = quiet()
    made.steadiness = [2.5]
    made.environment["label"] = "noisy"
    for number, way in enumerate(("ping-sr-2", "ping-sr-3", "ping-sr-5")):
        carried(made, 1000, 700.0 + 50 * number, way)
    for one in made.samples:
        wobble = WILD[(one.round + int(one.point.way[-1]) + one.point.load % 7) % len(WILD)]
        one.figures["machine_cpus"] = min(2.0, one.figures["machine_cpus"] * wobble)
        one.figures["p50_us"] *= 1000 * wobble
    return made


def aborted() -> Results:
    """One round, without its end; a program failed, and the last line was cut."""
    made = quiet()
    made.samples = [one for one in made.samples if one.round == 1][:6]
    made.failures = [{"point": "ib_send_lat -e", "link": "RoCE", "round": 1, "why": "the client did not end within 16 s"}] * 2
    made.notes = ["samples.jsonl: line 9 is cut short, and was left out"]
    return made


PAGES: dict[str, Callable[[], list[Results]]] = {
    "quiet": lambda: [quiet()],
    "noisy": lambda: [noisy()],
    "aborted": lambda: [aborted()],
    "empty": lambda: [Results()],
    "crowd": lambda: [crowd(3, 40000.0)],
    "together": lambda: [together(6000)],
    "several": lambda: [quiet(), noisy()],
}


class Shared:
    """One browser and the pages, for all tests."""

    def __init__(self) -> None:
        """Writes the pages, starts the browser."""
        self.scratch = tempfile.TemporaryDirectory()
        for name, make in PAGES.items():
            Path(self.scratch.name, f"{name}.html").write_text(page.page(make()), encoding="utf-8")
        self.browser = Browser()
        atexit.register(self.end)

    def end(self) -> None:
        """Leaves nothing."""
        self.browser.end()
        self.scratch.cleanup()


@functools.cache
def shared() -> Shared:
    """Made when the first test needs it."""
    return Shared()


def look(name: str, width: int, height: int, theme: str) -> Any:
    """What LOOK finds in a page."""
    browser = shared().browser
    browser.show(width, height, theme)
    browser.open(Path(shared().scratch.name, f"{name}.html"))
    return browser.value(LOOK)


def brightness(colour: str) -> float:
    """The relative luminance of 'rgb(r, g, b)', as WCAG 2 defines it."""
    parts = [int(word) / 255 for word in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear: list[float] = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Between 1 and 21."""
    dark, light = sorted((brightness(one), brightness(other)))
    return (light + 0.05) / (dark + 0.05)


def overlap(one: list[float], other: list[float]) -> bool:
    """Whether two boxes share more than a rim of 2 pixels."""
    return all(min(one[n + 2], other[n + 2]) - max(one[n], other[n]) > 2 for n in (0, 1))


class EveryPage(unittest.TestCase):
    """What is true of each page, window and theme."""

    def test_nothing_is_cut_off_or_covered_and_all_can_be_read(self) -> None:
        for name in PAGES:
            for width, height in WINDOWS:
                for theme in THEMES:
                    with self.subTest(page=name, width=width, theme=theme):
                        seen = look(name, width, height, theme)
                        self.assertLessEqual(seen["wide"], width, "the page has to be scrolled sideways")
                        self.assertEqual([one["text"] for one in seen["texts"] if one["out"]], [], "cut off")
                        pale = [one["text"] for one in seen["texts"] if contrast(one["colour"], seen["paper"]) < CONTRAST]
                        self.assertEqual(pale, [], "too pale")
                        drawn = [one for one in seen["texts"] if one["svg"]]
                        pairs = [(a, b) for n, a in enumerate(drawn) for b in drawn[n + 1 :]]
                        covered = [(a["text"], b["text"]) for a, b in pairs if overlap(a["box"], b["box"])]
                        self.assertEqual(covered, [], "one over the other in the picture")
                        self.assertEqual(shared().browser.complaints(), [])


class FirstScreen(unittest.TestCase):
    """What is seen without scrolling."""

    def test_all_above_the_folds_fits_a_laptop(self) -> None:
        for name in ("quiet", "noisy", "aborted", "crowd", "together"):
            with self.subTest(page=name):
                seen = look(name, 1280, 900, "light")
                self.assertTrue(seen["table"] and seen["folds"])
                self.assertLessEqual(seen["folds"][0][0], 900)

    def test_a_phone_shows_the_answer_and_the_table_first(self) -> None:
        for name in ("quiet", "noisy", "aborted"):
            with self.subTest(page=name):
                seen = look(name, 360, 740, "light")
                places = [seen[part][0] for part in ("title", "table", "picture")]
                self.assertEqual(places, sorted(places))
                self.assertLess(seen["title"][0][1], 370)
                self.assertLess(seen["table"][0][0], 740)

    def test_an_empty_result_says_so(self) -> None:
        seen = look("empty", 360, 740, "light")
        self.assertEqual(seen["texts"][0]["text"], "Nothing was measured.")
