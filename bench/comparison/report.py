# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Writes the report: page, pictures, JSON, CSV, the summary on the terminal, and the results of limits.

Place: called by bench/compare and bench/report. Contract: writes everything that is possible. Pictures as PNG need
rsvg-convert (librsvg2-bin); without it there are only SVG files.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from . import answers, limits, page, picture, store


def write_pictures(all_results: list[store.Results], folder: Path) -> None:
    """Writes the pictures as SVG, and as PNG."""
    converter = shutil.which("rsvg-convert")
    for n, results in enumerate(all_results, 1):
        for link in dict.fromkeys(one.link for one in results.samples):
            answer = answers.answers(results, link)[0]
            text = picture.draw(results, link, answer, alone=True) if answer.bounds else ""
            if not text:
                continue
            file = folder / f"{link}{f'-{n}' if len(all_results) > 1 else ''}.svg"
            file.write_text(text, encoding="utf-8")
            if converter:
                subprocess.run([converter, "-w", "1440", "-o", str(file.with_suffix(".png")), str(file)], check=False)
    if not converter:
        print("compare: rsvg-convert (package librsvg2-bin) is not installed: pictures are SVG only", file=sys.stderr)


def judge(results: list[store.Results], wanted: list[limits.Limit], junit: Path | None) -> int:
    """The exit status for the limits."""
    outcomes = [outcome for one in results for outcome in limits.check_all(one, wanted)]
    for outcome in outcomes:
        print(limits.describe(outcome))
    if junit:
        junit.write_bytes(limits.junit(outcomes))
    return 1 if any(outcome.kind in limits.BAD for outcome in outcomes) else 0


def write(results: list[store.Results], folder: Path) -> None:
    """The page and the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    write_pictures(results, folder)
    (folder / "index.html").write_text(page.page(results), encoding="utf-8")
    for one in results:
        print(page.summary(one))
    for line in page.agreements(results):
        print(line)
    print(f"The report is {folder / 'index.html'}", file=sys.stderr)


def finish(folder: Path, wanted: list[limits.Limit], junit: Path | None) -> int:
    """Writes all of it after a run, however the run ended."""
    events = folder / "samples.jsonl"
    results = store.collect(events) if events.exists() else store.Results()
    if not results.samples:
        print("compare: nothing was measured", file=sys.stderr)
        return 1
    store.write(results, folder / "results.json")
    store.write_csv(results, folder / "results.csv")
    write([results], folder)
    return judge([results], wanted, junit)


def parser() -> argparse.ArgumentParser:
    """The options of bench/report."""
    options = argparse.ArgumentParser(
        prog="bench/report",
        description="Makes one report from several results of bench/compare: of several machines, or before and after a change.",
        allow_abbrev=False,
    )
    options.add_argument("files", nargs="+", type=Path, metavar="FILE", help="results.json of bench/compare")
    options.add_argument("--folder", type=Path, default=Path("build/report"), metavar="DIR", help="where the report is written (default build/report)")
    options.add_argument("--fail-if", action="append", default=[], metavar="LIMIT", help="as in bench/compare")
    options.add_argument("--junit", type=Path, metavar="FILE", help="write the results of --fail-if as JUnit XML")
    return options


def main() -> int:
    """Exit status: 0, 1 if a --fail-if is true, 2 if a file cannot be used."""
    options = parser().parse_args()
    all_results = []
    try:
        wanted = [limits.parse(text) for text in options.fail_if]
        for file in options.files:
            results = store.load(file)
            results.environment.setdefault("label", str(file.with_suffix("")))
            all_results.append(results)
    except ValueError as error:
        parser().error(str(error))
    write(all_results, options.folder)
    return judge(all_results, wanted, options.junit)
