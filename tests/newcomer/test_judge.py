# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of judge.py."""

import os
import re
from pathlib import Path

import pytest

from newcomer import judge

DEMO = """transport  program       message    verified
RoCE       ping-sr-0        64 B  100.0  yes
iWARP      ping-sr-0        64 B   90.0  yes
"""


def test_a_good_demo() -> None:
    assert judge.of_demo(0, "packages missing: gcc\n" + DEMO) is None


def test_exit_status_names_the_last_line() -> None:
    found = judge.of_demo(2, "lab: cannot make the initramfs\nmake: *** [demo] Error 125\n\n")
    assert "make: *** [demo] Error 125" in str(found)


def test_a_transport_is_missing() -> None:
    assert "iWARP" in str(judge.of_demo(0, DEMO.replace("iWARP", "other")))
    assert "RoCE" in str(judge.of_demo(0, ""))


def test_one_is_not_verified() -> None:
    bad = DEMO + "RoCE       ping-sr-3        64 B  100.0  NO\n"
    assert "not verified" in str(judge.of_demo(0, bad))


def test_the_first_error_is_the_cause() -> None:
    text = "I: running\nE: Release file is expired\nI: removing\nE: mmdebstrap failed to run\n"
    assert judge.first_error(text) == "Release file is expired"


def test_without_an_error_it_is_the_last_line() -> None:
    assert judge.first_error("I: running\nkilled\n\n") == "killed"


def test_a_good_sum() -> None:
    assert judge.of_sum("check", 0, "lab: ...\n12 passed, 0 failed, 0 skipped\n") is None


def test_what_the_drivers_cannot_have_is_skipped() -> None:
    name = "tests/live/test_mistakes.py:112: rxe0 takes more than -s can ask for"
    assert judge.of_sum("check", 0, f"SKIPPED [2] {name}\n12 passed, 0 failed, 2 skipped\n") is None


def test_the_sum_is_told_though_make_speaks_last() -> None:
    text = "12 passed, 1 failed, 0 skipped\nmake: *** [check] Error 1\n"
    assert "status 2: 12 passed, 1 failed" in str(judge.of_sum("check", 2, text))


@pytest.mark.parametrize(
    "status, text",
    [
        (0, "12 passed, 1 failed, 0 skipped"),
        (0, "12 passed, 0 failed, 1 skipped"),
        (0, "SKIPPED [1] fuzz: no clang\n12 passed, 0 failed, 1 skipped"),
        (0, "SKIPPED [1] x: rxe0 takes more than -s can ask for\n12 passed, 0 failed, 2 skipped"),
        (0, "0 passed, 0 failed, 0 skipped"),
        (1, "12 passed, 0 failed, 0 skipped"),
        (0, "12 passed, 0 failed, 0 skipped\nmake: *** [check] Error 1"),
        (0, "unit: 12 passed, 0 failed, 0 skipped"),
        (0, ""),
    ],
)
def test_a_bad_sum(status: int, text: str) -> None:
    assert judge.of_sum("check", status, text)


def test_one_remedy() -> None:
    text = "packages missing: a b\ntools/packages: no sudo: run as root: x && y a b\nmake: 1\n"
    assert judge.remedy(text) == "x && y a b"


def test_no_remedy_or_two() -> None:
    assert judge.remedy("packages missing: a b\n") is None
    assert judge.remedy("run as root: \n") is None
    assert judge.remedy("run as root: x\nrun as root: y\n") is None


def test_silence_about_what_is_asked_for() -> None:
    text = "  CC a.c\nlab: building the siw module\n"
    assert judge.of_silence(text, judge.INSTALLS) is None
    assert "siw" in str(judge.of_silence(text, judge.INSTALLS, judge.FETCHES))


def test_the_words_are_those_of_the_scripts() -> None:
    top = Path(__file__).resolve().parents[2]
    said = (top / "tools/packages").read_text()
    assert 'echo "packages missing: ' in said
    assert 'echo "installing them' in said
    lab = "".join(path.read_text() for path in (top / "lab/lib").iterdir() if path.is_file())
    for word in ("fetching", "refreshing", "building"):
        assert re.search(rf'say "{word} ', lab)


def test_changed_files_are_named(tmp_path: Path) -> None:
    def look() -> judge.Snapshot:
        return judge.snapshot(tmp_path, "below", "status", "absent")

    (tmp_path / "below").mkdir()
    for name in ("below/file", "status", "elsewhere"):
        (tmp_path / name).write_text("text")
    (tmp_path / "below/link").symlink_to("nowhere")
    before = look()
    assert sorted(before) == ["below/file", "status"]
    (tmp_path / "elsewhere").write_text("other")
    assert judge.of_change(before, look()) is None
    (tmp_path / "below/new").write_text("")
    os.utime(tmp_path / "status", ns=(1, 1))
    (tmp_path / "below/file").unlink()
    assert "3 files: below/file, below/new, status" in str(judge.of_change(before, look()))
    assert judge.of_change({}, {})  # nothing to look at is no proof


def test_a_release_has_security_and_a_canary_has_not() -> None:
    assert len(judge.sources("trixie")) == 3
    assert "trixie-security" in judge.sources("trixie")[2]
    assert len(judge.sources("testing")) == 1
