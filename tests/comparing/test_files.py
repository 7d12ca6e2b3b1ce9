# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Place: tests of files: store.py, page.py, picture.py, report.py."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import tempfile
import unittest
from dataclasses import asdict
from html.parser import HTMLParser
from pathlib import Path
from unittest.mock import patch
from xml.etree import ElementTree

from comparing.made_up import carried, results
from bench.comparison import answers, page, picture, report, store

EMPTY = {"meta", "rect", "line", "polyline", "circle", "polygon", "br", "link", "img"}


class Balance(HTMLParser):
    """Notes what is opened and not closed, and all text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in {"meta"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Does nothing, because such a tag is closed at once."""

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            raise AssertionError(f"</{tag}> closes something else")

    def handle_data(self, data: str) -> None:
        self.text += data


class Folder(unittest.TestCase):
    """Gives each test a folder."""

    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def events(self) -> Path:
        """Returns the lines that a run leaves."""
        made, file = results(), self.folder / "samples.jsonl"
        store.append(file, "environment", made.environment)
        store.append(file, "background", made.background[0])
        for one in made.samples:
            store.append(file, "sample", asdict(one))
        return file


class Store(Folder):
    """Tests of results in files."""

    def test_what_is_written_is_read(self) -> None:
        file = self.folder / "results.json"
        store.write(results(), file)
        self.assertEqual(store.load(file), results())

    def test_a_line_that_is_cut_short_costs_that_line_alone(self) -> None:
        file = self.events()
        whole = store.collect(file)
        self.assertEqual(whole.samples, results().samples)
        self.assertEqual(whole.notes, [])
        file.write_bytes(file.read_bytes()[:-20])
        cut = store.collect(file)
        self.assertEqual(cut.samples, results().samples[:-1])
        self.assertEqual(len(cut.notes), 1)
        store.append(file, "background", 0.5)
        self.assertEqual(store.collect(file).background[-1], 0.5)

    def test_every_way_of_being_cut_short_is_refused_by_name(self) -> None:
        file = self.folder / "results.json"
        store.write(results(rounds=1), file)
        text = file.read_bytes()
        for length in range(0, len(text) - 2, 97):
            file.write_bytes(text[:length])
            with self.assertRaisesRegex(store.Damaged, "results.json"):
                store.load(file)

    def test_the_schema_knows_all_that_is_written(self) -> None:
        schema = json.loads((Path(__file__).parent.parent.parent / "bench/compare.schema.json").read_text())
        file = self.folder / "results.json"
        store.write(results(rounds=1), file)
        value = json.loads(file.read_text())
        self.assertEqual(set(value), set(schema["properties"]))
        self.assertEqual(set(value), set(schema["required"]))
        described = schema["properties"]["samples"]["items"]["properties"]
        self.assertEqual(set(value["samples"][0]), set(described))
        self.assertEqual(set(value["samples"][0]["point"]), set(described["point"]["properties"]))
        self.assertEqual(value["schema"], schema["properties"]["schema"]["const"])

    def test_a_file_from_before_the_primitives_is_read(self) -> None:
        file = self.folder / "results.json"
        store.write(results(), file)
        value = json.loads(file.read_text())
        del value["primitives"]
        file.write_text(json.dumps(value))
        self.assertEqual(store.load(file), results())

    def test_the_primitives_of_each_round_are_kept(self) -> None:
        file = self.events()
        store.append(file, "primitives", {"link": "RoCE", "polled_us": 30})
        self.assertEqual(store.collect(file).primitives, [{"link": "RoCE", "polled_us": 30}])

    def test_another_schema_is_refused(self) -> None:
        file = self.folder / "results.json"
        for text in ('{"schema": 2}', "[]", "{}", "null"):
            file.write_text(text)
            with self.assertRaises(store.Damaged):
                store.load(file)

    def test_csv_has_a_figure_a_line(self) -> None:
        file = self.folder / "results.csv"
        store.write_csv(results(rounds=1), file)
        with open(file, newline="", encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines))
        self.assertEqual(len(rows), sum(len(one.figures) for one in results(rounds=1).samples))
        found = [row["value"] for row in rows if (row["way"], row["load"], row["figure"]) == ("ping-sr-2", "1000", "p50_us")]
        self.assertEqual(found, ["30"])


class Page(Folder):
    """Tests of the report."""

    def test_it_stands_alone_and_is_whole(self) -> None:
        text = page.page([results()])
        parser = Balance()
        parser.feed(text)
        self.assertEqual(parser.open, [])
        self.assertEqual(re.findall(r"""(?:src|href)=|url\((?!#)|<script|@import""", text), [])
        self.assertIn("Break-even", parser.text)
        self.assertIn("Emulated machine", parser.text)
        self.assertIn("6.1 <made up>", parser.text)

    def test_counters_are_shown_where_there_are_any(self) -> None:
        made = results()
        self.assertNotIn("instructions a message", page.page([made]))
        for one in made.samples:
            one.figures["perf_instructions"] = 5000 * one.figures["rate"]
        text = page.table(made, "RoCE")
        self.assertIn("<th>instructions a message</th>", text)
        self.assertEqual(text.count("<td>5,000 [5,000, 5,000]</td>"), 10)

    def test_each_sample_is_in_it(self) -> None:
        self.assertIn(f"All {len(results().samples)} samples", page.page([results()]))
        self.assertEqual(page.samples(results()).count("<tr>"), len(results().samples) + 1)

    def test_a_picture_is_a_file_of_its_own(self) -> None:
        made = results()
        root = ElementTree.fromstring(picture.draw(made, "RoCE", answers.answers(made, "RoCE")[0], alone=True))
        titles = [one.text or "" for one in root.iter("{http://www.w3.org/2000/svg}title")]
        self.assertTrue(any(title.startswith("1,000 messages a second: 0.40 CPUs") for title in titles))

    def test_a_point_of_too_few_rounds_is_hollow(self) -> None:
        for rounds, hollow in ((2, True), (3, False)):
            made = results(rounds)
            drawn = picture.draw(made, "RoCE", answers.answers(made, "RoCE")[0])
            circles = re.findall(r'<circle [^>]*fill="([^"]*)"', drawn)
            self.assertEqual({fill == "var(--paper)" for fill in circles}, {hollow})

    def test_higher_is_higher_and_zero_is_on_the_line(self) -> None:
        frame = picture.Frame(960, 400, 4, 2.0)
        self.assertEqual(frame.y(0), frame.bottom)
        self.assertLess(frame.y(2), frame.y(1))
        self.assertAlmostEqual(frame.x(100) - frame.x(10), frame.x(10) - frame.x(1))

    def test_a_load_that_was_not_kept_has_no_point(self) -> None:
        rates = [round(one.rate) for one in picture.curve(results(), "RoCE", "ping-sr-3")]
        self.assertEqual(rates, [1, 100, 1000, 10000])
        made = carried(results(), 10000, 2500.0)
        self.assertEqual([round(one.rate) for one in picture.curve(made, "RoCE", "ping-sr-3")], [1, 100, 1000, 3000])

    def test_two_machines_in_one(self) -> None:
        files = []
        for name in ("before", "after"):
            files.append(self.folder / f"{name}.json")
            store.write(results(), files[-1])
        both = self.folder / "both"
        for given, pictures, limit, status in ((files[:1], ["RoCE.svg"], "ping-sr-3.p50 > 9e9", 0), (files, ["RoCE-1.svg", "RoCE-2.svg"], "ping-sr-3.p50 > 1", 1)):
            arguments = ["report", *map(str, given), "--folder", str(both), "--fail-if", limit]
            with patch("sys.argv", arguments), patch("shutil.which", return_value=None), contextlib.redirect_stderr(io.StringIO()) as told:
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    self.assertEqual(report.main(), status)
            self.assertIn(f"The report is {both}/index.html", told.getvalue())
            self.assertEqual(sorted(file.name for file in both.glob("*.svg")), pictures)
            (both / "RoCE.svg").unlink(missing_ok=True)
        self.assertIn("FAILED: it is so", out.getvalue())
        text = (both / "index.html").read_text()
        self.assertIn(str(self.folder / "before"), text)
        self.assertIn(str(self.folder / "after"), text)
