# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What was seen of servers, kept from one run to the next, and the table of it.

Place: between tests/siege and judge.py. Contract: a file for each server and driver, with the newest run.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path
from statistics import median

from sieges.judge import Seen, verdict
from sieges.ways import STAGES

DRIVERS = {"RoCE": "soft-RoCE", "iWARP": "soft-iWARP"}
MANY_REQUESTS = ("nonsense", "claims", "silent", "half")
HEAD = """| server | driver | minutes | honest clients | median, longest (s) | requests of crowds | other hostile clients \
| grew by (KiB) | load | |
|---|---|---|---|---|---|---|---|---|---|
"""


def write(file: Path, all_seen: Iterable[Seen]) -> None:
    """Replaces the file at once: the machine may not last."""
    new = file.with_suffix(".new")
    new.write_text(json.dumps([dataclasses.asdict(seen) for seen in all_seen]), encoding="utf-8")
    new.replace(file)


def read(file: Path) -> list[Seen]:
    """What `write` has written."""
    return [Seen.read(record) for record in json.loads(file.read_text(encoding="utf-8"))]


def keep(folder: Path, all_seen: Iterable[Seen]) -> None:
    """Keeps what was seen of each server, in place of what was seen of it before."""
    folder.mkdir(parents=True, exist_ok=True)
    for seen in all_seen:
        write(folder / f"{seen.name}-{seen.transport}.json", [seen])


def kept(folder: Path) -> list[Seen]:
    """All that is kept, in the order of the stages."""
    files = [folder / f"{name}-{transport}.json" for transport in DRIVERS for name in STAGES]
    return [seen for file in files if file.exists() for seen in read(file)]


def row(seen: Seen) -> str:
    """Its row of the table."""
    honest = seen.counted()
    times = [each.ended - each.begun for each in honest] or [0.0]
    served = sum(not each.status for each in honest)
    others = sum(number for name, number in seen.hostile.items() if name not in MANY_REQUESTS)
    grown = seen.kib[-1] - seen.kib[0] if seen.kib else 0
    cells = [
        seen.name, DRIVERS[seen.transport], seen.about.get("minutes", ""), f"{served} of {len(honest)}",
        f"{median(times):.1f}, {max(times):.1f}", f"{seen.requests:,}", f"{others:,}", f"{grown:,}",
        seen.about.get("load", ""), verdict(seen),
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |\n"


def conditions(all_seen: Iterable[Seen]) -> str:
    """Under which conditions it was seen: a line for each."""
    lines: dict[str, list[str]] = {}
    for seen in all_seen:
        facts = [seen.about[key] for key in ("date", "commit", "kernel", "rdma-core", "command") if key in seen.about]
        lines.setdefault("; ".join(facts), []).append(f"{seen.name} {seen.transport}")
    return "".join(f"{', '.join(names)}: {facts}\n" for facts, names in lines.items() if facts)


def table(all_seen: list[Seen]) -> str:
    """The table for tests/evidence.md."""
    return HEAD + "".join(map(row, all_seen))
