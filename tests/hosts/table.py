# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The results of a sweep as Markdown, for tests/evidence.md.

Nothing here runs anything: see test_table.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hosts.disturbances import DEVICES, STAGES, Disturbance, stages_on
from hosts.judge import BAD, NOT_RUN, Verdict


@dataclass
class Result:
    """One case."""

    row: Disturbance
    device: str
    stage: str
    verdict: Verdict


def cases_of(rows: list[Disturbance], devices: list[str], stages: list[str]) -> int:
    """How many there are."""
    return len(rows) * sum(len(stages_on(device, stages)) for device in devices)


def short(sentence: str) -> str:
    """What was said, without what differs from run to run."""
    text = re.sub(r"wr_id 0x[0-9a-f]+ on QP 0x[0-9a-f]+", "...", sentence)
    text = re.sub(r"\(status \d+, vendor 0x[0-9a-f]+\)", "", text)
    text = re.sub(r"\d+\.\d+\.\d+\.\d+:\d+", "ADDRESS", text)
    return re.sub(r"after \d+ messages", "after N messages", text)


def cell(words: dict[str, str], stages: list[str]) -> str:
    """What most stages came to, and then the others by their names."""
    by_word: dict[str, list[str]] = {}
    for stage in stages:
        by_word.setdefault(words.get(stage, NOT_RUN), []).append(stage)
    shown = {word: f"**{word}**" if word == BAD else word for word in by_word}
    most, *others = sorted(by_word, key=lambda word: -len(by_word[word]))
    return "; ".join([shown[most], *(f"{shown[word]}: {', '.join(by_word[word])}" for word in others)])


def markdown(results: list[Result], where: list[str]) -> str:
    """A table, one row for each disturbance; then who said what, and what is wrong."""
    stages = [stage for stage in STAGES if any(r.stage == stage for r in results)]
    devices = [device for device in DEVICES if any(r.device == device for r in results)]
    lines = [*(f"- {line}" for line in where), f"- stages: {', '.join(stages)}", ""]
    lines.append("| disturbance | " + " | ".join(DEVICES[device] for device in devices) + " |")
    lines.append("|---|" + "---|" * len(devices))
    seen: dict[str, dict[str, dict[str, str]]] = {}
    for r in results:
        seen.setdefault(r.row.what, {}).setdefault(r.device, {})[r.stage] = r.verdict.word
    for what, words in seen.items():
        cells = [cell(words.get(device, {}), stages_on(device, stages)) for device in devices]
        lines.append(f"| {what} | " + " | ".join(cells) + " |")
    return "\n".join(lines + sayings(results) + faults(results)) + "\n"


def sayings(results: list[Result]) -> list[str]:
    """Each sentence, by whom it was said, how often and when."""
    said: dict[str, list[str]] = {}
    for r in results:
        for role, text in (("client", r.verdict.client), ("server", r.verdict.server)):
            if text:
                said.setdefault(f"{role}: {short(text)}", []).append(r.row.name)
    lines = ["", "What was said, how often, and when:", ""] if said else []
    for text, rows in sorted(said.items(), key=lambda item: -len(item[1])):
        names = sorted(set(rows))
        more = f" and {len(names) - 6} more" if len(names) > 6 else ""
        lines.append(f"- {len(rows)} times, {text} ({', '.join(names[:6])}{more})")
    return lines


def faults(results: list[Result]) -> list[str]:
    """What is wrong, and the command that plays it again."""
    lines: list[str] = []
    for r in results:
        for fault in r.verdict.faults:
            command = f"tests/sweep --stage {r.stage} --device {r.device} --only {r.row.name}"
            lines.append(f"- `{command}`: {fault}")
    return ["", "What is wrong:", "", *lines] if lines else []
