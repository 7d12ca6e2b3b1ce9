# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Measures what the stages do without one decisive line: each row takes one line out, and the programs run.

    python3 -B -m course.left_out                      # writes docs/left-out.md anew
    python3 -B -m course.left_out poll-after-arming    # measures one row, and shows a command for each outcome

Place: `make left-out` calls it; tests/sim/test_left_out.py compares the page with new runs. Contract: left_out.toml has the rows.
An outcome is what is seen of a run from outside: statuses, the first words of each side, what is left over, findings of --strict,
and the time. A run is "as before" if it has an outcome that runs with the line have, too, and is not slower.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

from tools.folders import TOP, folder
from tools.stages import without_make

from . import bug, cut, edit, scenes, trees
from .scenes import DEVICES

from verbs_sim import ADDRESS, Run, simulate  # noqa: E402 # scenes has added its folder

TABLE = TOP / "course/left_out.toml"
PAGE = TOP / "docs/left-out.md"
BUILD = TOP / "build/left-out"
SEEDS = range(1, 21)
WITHIN_S = 120
PATIENCE_S = 1200  # simulated: longer than iWARP takes to give up a silent host
MOST_OUTCOMES = 3  # outcomes that are shown for one device; the rest are counted
MOST_SAID = 130  # characters of what a side says
SLOW_MS, SLOWER = 10, 5  # simulated: a run that takes longer by these is slow
AS_BEFORE, WELL = "as before", "all is well"


@dataclass(frozen=True)
class Line:
    """A row of the table: a line, and runs that show what it is for."""

    name: str
    stage: str
    file: str
    function: str
    old: str
    why: str
    notice: str  # a way to notice the fault in production
    new: str = ""
    server: str = "-c 20"
    clients: tuple[str, ...] = ("-v -c 20",)
    options: tuple[str, ...] = ()  # options of verbs-sim
    other: str = ""  # the stage whose original client is used; empty: the row's stage

    @property
    def sides(self) -> list[str]:
        """The names of the programs."""
        clients = [f"client {number}" for number in range(1, len(self.clients) + 1)]
        return ["server", *(clients if len(clients) > 1 else ["client"])]

    @property
    def number(self) -> int:
        """The number of the source's line where the row's text begins."""
        source = (TOP / self.file).read_text().split("\n")
        _, first, last = cut.find(source, self.function)
        body = "\n".join(source[first : last + 1])
        found = edit.pattern(self.old).search(body)
        assert found, f"{self.name}: {self.function} does not have: {self.old}"
        return first + 1 + body[: found.start()].count("\n")


def table() -> dict[str, Line]:
    """All rows, by name, in the order of the file."""
    rows = tomllib.loads(TABLE.read_text())["line"]
    lines = [Line(**{name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}) for row in rows]
    return {line.name: line for line in lines}


def build(line: Line) -> str:
    """Builds both programs of the stage without the line. Returns their folder. Its name is the same each time, as a run depends on it."""
    out = BUILD / line.name
    shutil.rmtree(out, ignore_errors=True)
    trees.write(out, line.stage, "")
    bug.plant([bug.Edit(line.file, line.function, line.old, line.new)], out)
    trees.add_objects(out, [line.file])
    subprocess.run(["make", "-s", "client", "server", "CFLAGS=-g -O2 -w"], cwd=out, env=without_make(), check=True, timeout=WITHIN_S)
    return str(out.relative_to(TOP))


@cache
def simulated(programs: tuple[str, ...], options: tuple[str, ...]) -> Run:
    """Runs programs, once for all rows that have the run with their line in common."""
    return simulate([program.split() for program in programs], *options)


def play(line: Line, where: str, device: str, seed: int) -> Run:
    """One run of the programs in a folder."""
    clients = folder(line.other) if line.other else where
    starts = [f"{where}/server -q -a {ADDRESS} {line.server}", *(f"{clients}/client -q -a {ADDRESS} {client}" for client in line.clients)]
    return simulated(tuple(starts), ("--seed", str(seed), *DEVICES[device], "--strict", "--patience", str(PATIENCE_S), *line.options))


def said(run: Run) -> Iterator[str]:
    """The first words of each side, the server's first."""
    for side in ("server", "client"):
        found = re.search(rf"^(?:\S*/)?{side}: (.*)", run.err, re.MULTILINE)
        if found:
            words = re.sub(r" with wr_id \S+ on QP [^:\s]+| \(status \d+, vendor \S+\)", "", found[1])
            words = words if len(words) <= MOST_SAID else words[:MOST_SAID].rsplit(" ", 1)[0] + " …"
            yield f"{side}: *{words}*"


def findings(wrong: str, names: list[str]) -> str:
    """All that --strict has found, with the sides that each finding is about."""
    of_sides: dict[str, list[str]] = {}
    for number, text in re.findall(r"program (\d): (.*?)(?=; program \d: |$)", wrong):
        of_sides.setdefault(text, []).append(names[int(number)])
    return "; ".join(f"{text} ({', '.join(sorted(sides, reverse=True))})" for text, sides in sorted(of_sides.items()))


def outcome(run: Run, names: list[str]) -> str:
    """All that is seen of a run, but for its time."""
    seen = [f"the {names[side]} waits forever" for side in run.told]
    seen += [f"signal {status - 128} ends the {name}" for name, status in zip(names, run.statuses) if status > 128]
    seen += ["SIGTERM does not end it" if run.told else run.reason] if run.reason else []
    seen += said(run)
    left = re.sub(r"of program (\d)", lambda found: f"of the {names[int(found[1])]}", run.left)
    seen += [f"left over: {left}"] if left != "nothing" else []
    seen += [f"`--strict`: {findings(run.wrong, names)}"] if run.wrong else []
    return "; ".join(seen) or WELL


def alike(text: str) -> str:
    """A text that is the same for two outcomes that differ only in numbers."""
    return re.sub(r"\d+(\.\d+)?|0x[0-9a-f]+", "#", text)


def compared(before: Run, after: Run, line: Line, usual: set[str]) -> str:
    """The outcome without the line, or that it is one of the usual ones."""
    text = outcome(after, line.sides)
    slow = after.ms > SLOW_MS + SLOWER * before.ms and not after.told
    if alike(text) in usual:
        return f"the same, but it takes {after.ms / 1000:.2f} s, and not {before.ms / 1000:.2g}" if slow else AS_BEFORE
    return f"{text}; after {after.ms / 1000:.1f} s" if slow else text


Outcome = tuple[str, int, str]  # an outcome, the number of runs that had it, and the command of one


@dataclass(frozen=True)
class Measured:
    """A row that was measured."""

    line: Line
    before: dict[str, list[Outcome]]  # the outcomes on each device, with the line
    after: dict[str, list[Outcome]]

    @property
    def shown(self) -> bool:
        """Returns whether some run shows a difference."""
        return any(text != AS_BEFORE for outcomes in self.after.values() for text, _, _ in outcomes)


def tallied(seen: list[tuple[str, Run]]) -> list[Outcome]:
    """The outcomes and how often each was seen, the most frequent first."""
    found: dict[str, Outcome] = {}
    for text, run in seen:
        first, times, command = found.get(alike(text), (text, 0, run.command))
        found[alike(text)] = first, times + 1, command
    return sorted(found.values(), key=lambda outcome: -outcome[1])


def measure(line: Line) -> Measured:
    """Runs the programs with all seeds on all devices, with the line and without."""
    where, usual, measured = build(line), folder(line.stage), Measured(line, {}, {})
    for device in DEVICES:
        pairs = [(play(line, usual, device, seed), play(line, where, device, seed)) for seed in SEEDS]
        measured.before[device] = tallied([(outcome(one, line.sides), one) for one, _ in pairs])
        common = {alike(text) for text, _, _ in measured.before[device]}
        measured.after[device] = tallied([(compared(one, other, line, common), other) for one, other in pairs])
    return measured


def grouped(texts: dict[str, str]) -> str:
    """The texts of the devices; devices with the same outcome share one."""
    devices: dict[str, list[str]] = {}
    for device, text in texts.items():
        devices.setdefault(alike(text), []).append(device)
    return ". ".join(f"**{', '.join(names) if len(names) < len(texts) else 'All'}**: {texts[names[0]]}" for names in devices.values()) + "."


def counts(outcomes: list[Outcome]) -> str:
    """The outcomes on one device."""
    if len(outcomes) == 1:
        return outcomes[0][0]
    told = [f"{times} of {len(SEEDS)}: {text}" for text, times, _ in outcomes[:MOST_OUTCOMES]]
    rest = sum(times for _, times, _ in outcomes[MOST_OUTCOMES:])
    return "; or ".join([*told, *([f"{rest} of {len(SEEDS)}: other ends"] if rest else [])])


def row(measured: Measured) -> str:
    """A row of the page."""
    line, number = measured.line, measured.line.number
    where = f"[{line.file}:{number}](../{line.file}#L{number}), `{line.function}`"
    code = " ".join(line.old.split())
    instead = f" becomes `{' '.join(line.new.split())}`" if line.new else ""
    usual = {device: counts(outcomes) for device, outcomes in measured.before.items()}
    with_it = "" if set(usual.values()) == {WELL} else f" With it: {grouped(usual)} Without it:"
    runs = f"`{' ::: '.join([line.server or '-', *line.clients])}{''.join(f' {option}' for option in line.options)}`."
    without = grouped({device: counts(outcomes) for device, outcomes in measured.after.items()}) if measured.shown else "No run of these shows it."
    cells = [f"<a id='{line.name}'></a>{where}: `{code}`{instead}. {line.why.strip()}", f"{runs}{with_it} {without}", line.notice.strip()]
    return "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells) + " |\n"


def page(rows: list[Measured]) -> str:
    """The whole page."""
    hidden = [one.line.name for one in rows if not one.shown]
    summary = f"{len(rows)} lines; runs show {len(rows) - len(hidden)} of them."
    summary += f" No run shows: {', '.join(hidden)}." if hidden else ""
    text = f"# Leave it out, and see\n\n{tomllib.loads(TABLE.read_text())['about']}\n{summary}\n"
    for stage in dict.fromkeys(one.line.stage for one in rows):
        text += f"\n## {stage}\n\n| the line, and why it is there | server ::: client, and what they do without it | in production |\n|---|---|---|\n"
        text += "".join(row(one) for one in rows if one.line.stage == stage)
    return f"{text}\n{scenes.versions()}"


def main() -> None:
    """Writes the page, or prints a row."""
    lines = table()
    parser = argparse.ArgumentParser(prog="python3 -B -m course.left_out", description=__doc__.split("\n")[0])
    parser.add_argument("name", nargs="?", choices=lines, metavar="NAME", help="print this row, and a command for each of its outcomes")
    name = parser.parse_args().name
    if not name:
        with ThreadPoolExecutor(2) as pool:
            PAGE.write_text(page(list(pool.map(measure, lines.values()))))
        return
    measured = measure(lines[name])
    print(row(measured))
    for device, outcomes in measured.after.items():
        print("".join(f"{device}: {times} of {len(SEEDS)}: {text}\n    tools/verbs-sim/{command}\n" for text, times, command in outcomes))


if __name__ == "__main__":
    main()
