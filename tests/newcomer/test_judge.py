# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of judge.py."""

from __future__ import annotations

import os
import tempfile
import unittest
from pathlib import Path

from newcomer import judge

DEMO = """transport  program       message    verified
RoCE       ping-sr-0        64 B  100.0  yes
iWARP      ping-sr-0        64 B   90.0  yes
"""


class OfDemo(unittest.TestCase):
    """Both transports, verified, exit status 0."""

    def test_good(self) -> None:
        self.assertIsNone(judge.of_demo(0, "packages missing: gcc\n" + DEMO))

    def test_exit_status_names_the_last_line(self) -> None:
        found = judge.of_demo(2, "lab: cannot make the initramfs\nmake: *** [demo] Error 125\n\n")
        self.assertIn("make: *** [demo] Error 125", str(found))

    def test_a_transport_is_missing(self) -> None:
        self.assertIn("iWARP", str(judge.of_demo(0, DEMO.replace("iWARP", "other"))))
        self.assertIn("RoCE", str(judge.of_demo(0, "")))

    def test_one_is_not_verified(self) -> None:
        bad = DEMO + "RoCE       ping-sr-3        64 B  100.0  NO\n"
        self.assertIn("not verified", str(judge.of_demo(0, bad)))


class FirstError(unittest.TestCase):
    """Of a failing apt or mmdebstrap."""

    def test_the_first_is_the_cause(self) -> None:
        text = "I: running\nE: Release file is expired\nI: removing\nE: mmdebstrap failed to run\n"
        self.assertEqual(judge.first_error(text), "Release file is expired")

    def test_without_one_it_is_the_last_line(self) -> None:
        self.assertEqual(judge.first_error("I: running\nkilled\n\n"), "killed")


class OfSum(unittest.TestCase):
    """The last line of the tests."""

    def test_good(self) -> None:
        self.assertIsNone(judge.of_sum("check", 0, "lab: ...\n12 passed, 0 failed, 0 skipped\n"))

    def test_what_the_drivers_cannot_have_is_skipped(self) -> None:
        name = "tests/live/test_mistakes.py:112: rxe0 takes more than -s can ask for"
        text = f"SKIPPED [2] {name}\n12 passed, 0 failed, 2 skipped\n"
        self.assertIsNone(judge.of_sum("check", 0, text))

    def test_the_sum_is_told_though_make_speaks_last(self) -> None:
        text = "12 passed, 1 failed, 0 skipped\nmake: *** [check] Error 1\n"
        self.assertIn("status 2: 12 passed, 1 failed", str(judge.of_sum("check", 2, text)))

    def test_bad(self) -> None:
        for status, line in (
            (0, "12 passed, 1 failed, 0 skipped"),
            (0, "12 passed, 0 failed, 1 skipped"),
            (0, "SKIPPED [1] fuzz: no clang\n12 passed, 0 failed, 1 skipped"),
            (0, "SKIPPED [1] x: rxe0 takes more than -s can ask for\n12 passed, 0 failed, 2 skipped"),
            (0, "0 passed, 0 failed, 0 skipped"),
            (1, "12 passed, 0 failed, 0 skipped"),
            (0, "12 passed, 0 failed, 0 skipped\nmake: *** [check] Error 1"),
            (0, "unit: 12 passed, 0 failed, 0 skipped"),
            (0, ""),
        ):
            with self.subTest(line=line, status=status):
                self.assertIsNotNone(judge.of_sum("check", status, line))


class Remedy(unittest.TestCase):
    """What a user without sudo is told."""

    def test_one(self) -> None:
        text = "packages missing: a b\ntools/packages: no sudo: run as root: x && y a b\nmake: 1\n"
        self.assertEqual(judge.remedy(text), "x && y a b")

    def test_none_or_two(self) -> None:
        self.assertIsNone(judge.remedy("packages missing: a b\n"))
        self.assertIsNone(judge.remedy("run as root: \n"))
        self.assertIsNone(judge.remedy("run as root: x\nrun as root: y\n"))


class OfSilence(unittest.TestCase):
    """A second run."""

    def test_what_is_asked_for_counts(self) -> None:
        text = "  CC a.c\nlab: building the siw module\n"
        self.assertIsNone(judge.of_silence(text, judge.INSTALLS))
        self.assertIn("siw", str(judge.of_silence(text, judge.INSTALLS, judge.FETCHES)))

    def test_the_words_are_those_of_the_scripts(self) -> None:
        top = Path(__file__).resolve().parents[2]
        said = (top / "tools/packages").read_text()
        self.assertIn('echo "packages missing: ', said)
        self.assertIn('echo "installing them', said)
        lab = "".join(path.read_text() for path in (top / "lab/lib").iterdir() if path.is_file())
        for word in ("fetching", "refreshing", "building"):
            self.assertRegex(lab, rf'say "{word} ')


class OfChange(unittest.TestCase):
    """Files before and after."""

    def setUp(self) -> None:
        self.directory = tempfile.TemporaryDirectory()
        self.top = Path(self.directory.name)
        (self.top / "below").mkdir()
        (self.top / "below/file").write_text("text")
        (self.top / "status").write_text("text")
        (self.top / "elsewhere").write_text("text")
        os.symlink("nowhere", self.top / "below/link")
        self.before = self.look()

    def tearDown(self) -> None:
        self.directory.cleanup()

    def look(self) -> judge.Snapshot:
        """What is of interest."""
        return judge.snapshot(self.top, "below", "status", "absent")

    def test_both_files_are_seen(self) -> None:
        self.assertEqual(sorted(self.before), ["below/file", "status"])

    def test_nothing_changes(self) -> None:
        (self.top / "elsewhere").write_text("other")
        self.assertIsNone(judge.of_change(self.before, self.look()))

    def test_each_change_is_named(self) -> None:
        (self.top / "below/new").write_text("")
        os.utime(self.top / "status", ns=(1, 1))
        (self.top / "below/file").unlink()
        found = str(judge.of_change(self.before, self.look()))
        self.assertIn("3 files: below/file, below/new, status", found)

    def test_nothing_to_look_at_is_no_proof(self) -> None:
        self.assertIsNotNone(judge.of_change({}, {}))


class Sources(unittest.TestCase):
    """What apt gets to know."""

    def test_a_release_has_security_and_a_canary_has_not(self) -> None:
        self.assertEqual(len(judge.sources("trixie")), 3)
        self.assertIn("trixie-security", judge.sources("trixie")[2])
        self.assertEqual(len(judge.sources("testing")), 1)


if __name__ == "__main__":
    unittest.main()
