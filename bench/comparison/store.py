# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Results in files: while measuring, a line of JSON for each event; at the end, one JSON file and one CSV file.

Place: below measure.py and report.py. Contract: each line is appended and flushed at once, so nothing that was
measured is lost. If the last line is incomplete, it is left out, and the report says so. bench/compare.md and
bench/compare.schema.json describe the file.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .plan import Point

SCHEMA = 1


class Damaged(ValueError):
    """A file of results that cannot be used; the message names the file."""


@dataclass(frozen=True)
class Sample:
    """A run that was measured. Samples of the same round were taken within minutes of each other."""

    link: str
    point: Point
    round: int
    figures: dict[str, float]


@dataclass
class Results:
    """The contents of one file."""

    environment: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    samples: list[Sample] = field(default_factory=list)
    background: list[float] = field(default_factory=list)
    primitives: list[dict[str, Any]] = field(default_factory=list)
    steadiness: list[float] = field(default_factory=list)
    failures: list[dict[str, Any]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    commands: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def append(file: Path, kind: str, value: Any) -> None:
    """Appends one event, at once. If the last line is incomplete, it begins a new one."""
    with open(file, "a+b") as last:
        size = last.seek(0, os.SEEK_END)
        last.seek(max(0, size - 1))
        cut = size and last.read(1) != b"\n"
    with open(file, "a", encoding="utf-8") as out:
        out.write(("\n" if cut else "") + json.dumps({"kind": kind, "value": value}) + "\n")


def sample_from(value: dict[str, Any]) -> Sample:
    """A sample from JSON. Raises KeyError or TypeError if it is not one."""
    figures = {str(name): float(number) for name, number in value["figures"].items()}
    return Sample(str(value["link"]), Point(**value["point"]), int(value["round"]), figures)


def events(file: Path, results: Results) -> Iterator[tuple[str, Any]]:
    """The complete lines; an incomplete one is noted."""
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        try:
            event = json.loads(line)
            yield event["kind"], event["value"]
        except (ValueError, KeyError, TypeError):
            results.notes.append(f"{file.name}: line {number} is cut short, and was left out")


def collect(file: Path) -> Results:
    """The results in the lines of a run, which may be incomplete."""
    results = Results()
    for kind, value in events(file, results):
        if kind == "sample":
            results.samples.append(sample_from(value))
        elif kind in ("environment", "options", "commands"):
            getattr(results, kind).update(value)
        elif kind == "missing":
            results.missing = sorted({*results.missing, *value})
        elif kind in ("background", "primitives", "steadiness", "failures", "notes"):
            getattr(results, kind).append(value)
    return results


def write(results: Results, file: Path) -> None:
    """Writes the results as one JSON object."""
    text = json.dumps({"schema": SCHEMA, **asdict(results)}, indent=1)
    temporary = file.with_suffix(".new")
    temporary.write_text(text + "\n", encoding="utf-8")
    temporary.replace(file)


def load(file: Path) -> Results:
    """Reads a file of results. Raises Damaged if it is incomplete or has another schema."""
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
        if value["schema"] != SCHEMA:
            raise Damaged(f"{file} has schema {value['schema']}, but this program reads {SCHEMA}")
        names = [name for name in Results.__dataclass_fields__ if name != "samples"]
        value.setdefault("primitives", [])  # later than schema 1
        results = Results(**{name: value[name] for name in names})
        results.samples = [sample_from(one) for one in value["samples"]]
        return results
    except Damaged:
        raise
    except OSError as error:
        raise Damaged(f"{file}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Damaged(f"{file} is not a complete file of results ({error}); try samples.jsonl in the same directory") from error


def write_csv(results: Results, file: Path) -> None:
    """Writes a line of CSV for each figure of each sample."""
    with open(file, "w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["machine", "link", "way", "load", "size", "clients", "workers", "helped", "round", "figure", "value"])
        machine = results.environment.get("label", "")
        for one in results.samples:
            place = [machine, one.link, one.point.way, one.point.load, one.point.size, one.point.clients, one.point.workers, one.point.helped, one.round]
            writer.writerows([*place, name, value] for name, value in one.figures.items())
