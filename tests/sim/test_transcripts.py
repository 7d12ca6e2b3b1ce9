# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Commands and all that they print: transcripts/*.txt, which a person has read. `make approve` rewrites what has changed.

Contract: a command is run by bash at the top of the tree, with bin/ on the PATH. In a transcript, what it has written to stdout comes
first, then stderr after `2| `, then an exit status that is not 0, in brackets. Figures have two digits, and # is one that depends on
the order of events: `make approve` finds these by other seeds. `$T` is an empty folder.
"""

from __future__ import annotations

import difflib
import functools
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
FILES = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))
SEEDS = range(1, 8)
FIGURE = re.compile(r"(?<![\w.])\d+\.\d+(?![.\w])|\d+(?= messages/s)")
NUMBER = re.compile(r"0x[0-9a-f]+|\d+(?:\.\d+)?|#")
LAST = re.compile(r", calls [\d/]+|, hash [0-9a-f]{16}: .*")
NAMED = re.compile(r"[\w./-]+(?= \(\w+\): |: )")  # a line that says whose it is


def rounded(figure: re.Match[str]) -> str:
    """Rounds a figure to two digits."""
    value = float(f"{float(figure[0]):.2g}")
    return f"{value:.9f}".rstrip("0").rstrip(".")


def by_program(text: str) -> list[str]:
    """The lines of one program together: which ends first is open. verbs-sim's come last."""
    blocks: list[list[str]] = []
    for line in text.splitlines():
        if not blocks or NAMED.match(line) or line.startswith('{"schema"'):
            blocks.append([])
        blocks[-1].append(line)

    def name(block: list[str]) -> str:
        found = NAMED.match(block[0])
        return "" if not found else "~" if found[0] == "verbs-sim" else found[0]

    return [line for block in sorted(blocks, key=name) for line in block]


def printed(command: str, seed: int = 1) -> list[str]:
    """Returns the output with this seed."""
    command = re.sub(r"\bverbs-sim (?=.*-- )", f"verbs-sim --seed {seed} ", command, count=1)
    with tempfile.TemporaryDirectory() as folder:
        argv = ["env", "-i", f"PATH={TOP}/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", f"T={folder}", "bash", "-c", command]
        done = subprocess.run(argv, cwd=TOP, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=120)
    texts = (text.replace(folder, "$T").replace(f"{TOP}/", "") for text in (done.stdout, done.stderr))
    out, err = (by_program(text) if " ::: " in command else text.splitlines() for text in texts)
    lines = [*out, *(f"2| {line}" for line in err), *([f"[{done.returncode}]"] if done.returncode else [])]
    return [FIGURE.sub(rounded, LAST.sub("", line)).rstrip() for line in lines]


def pattern(line: str) -> str:
    """Returns a pattern for the texts that may stand in its place."""
    any_number = f"(?:{NUMBER.pattern})"
    return "(?:.*\n)*?" if line == "..." else re.escape(line).replace(r"\#", any_number) + "\n"


def as_due(lines: list[str], due: list[str]) -> list[str]:
    """Returns the transcript's lines if the output fits them; else each line that was printed."""
    if re.fullmatch("".join(map(pattern, due)), "".join(f"{line}\n" for line in lines)):
        return due
    return [next((one for one in due if one != "..." and re.fullmatch(pattern(one), f"{line}\n")), line) for line in lines]


def common(one: list[str], other: list[str]) -> list[str]:
    """Returns the lines of both, and ... where they differ."""
    found, at = list[str](), (0, 0)
    for i, j, n in difflib.SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks():
        found += ["..."] * (at != (i, j) and found[-1:] != ["..."]) + one[i : i + n]
        at = (i + n, j + n)
    return found


def merged(runs: list[list[str]]) -> list[str]:
    """One text for several runs, with # for each number that differs, and ... where lines do."""
    shapes = [[NUMBER.sub("#", line) for line in run] for run in runs]
    at, lines = [0] * len(runs), list[str]()
    for shape in functools.reduce(common, shapes):
        if shape == "...":
            lines.append(shape)
            continue
        at = [each.index(shape, begin) + 1 for each, begin in zip(shapes, at)]
        numbers = zip(*(NUMBER.findall(run[end - 1]) for run, end in zip(runs, at)))
        masked: Iterator[str] = iter([each[0] if len({*each}) == 1 else "#" for each in numbers])
        lines.append(NUMBER.sub(lambda _: next(masked), runs[0][at[0] - 1]))
    return lines


PART = re.compile(r"  \$ (.*\n(?:  > .*\n)*)((?:(?:  (?!\$ ).*)?\n)*  (?!\$ ).*\n)?", re.MULTILINE)


def parts(file: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Returns the parts of a transcript: the text before a command, the command, and its lines. The last part has no command."""
    text, at = file.read_text(), 0
    for found in PART.finditer(text):
        lines = [line[2:] for line in (found[2] or "").splitlines()]
        yield text[at : found.start()], found[1].rstrip("\n").replace("\n  > ", "\n"), lines
        at = found.end()
    yield text[at:], "", []


def shown(before: str, command: str, lines: list[str]) -> str:
    """Returns the parts in the form of the file."""
    said = "  $ " + command.replace("\n", "\n  > ") + "\n" if command else ""
    return before + said + "".join(f"  {line}".rstrip() + "\n" for line in lines)


# Options of tools whose output no transcript can have.
NO_TRANSCRIPT = {
    "verbs-sim": {"--seed": "each command gets one", "--gdb": "a debugger talks", "--version": "differs with each commit"},
    "verbs-trace": {"-i": "addresses differ with each build", "-w": "so does the order of waits with each seed", "-h": "no more is said"},
}


@pytest.mark.parametrize("tool", NO_TRANSCRIPT)
def test_each_option_of_a_tool_has_a_command(tool: str) -> None:
    commands = [re.split(" -- ", command)[0] if tool == "verbs-sim" else command for file in FILES for _, command, _ in parts(file)]
    help_text = "\n".join(printed(f"{tool} --help"))
    options = {found[0]: found for found in re.findall(r"^  (-[\w-]+)(?:, (-[\w-]+))?", help_text, re.MULTILINE)}
    given = {name for command in commands if tool in command.split() for name in re.findall(r" (--?[\w-]+)", command.split(tool, 1)[1])}
    assert len(options) > 10 and {*options} - {name for name, both in options.items() if given & {*both}} == {*NO_TRANSCRIPT[tool]}


def test_each_option_has_a_command() -> None:
    """Each line of a --help that names an option is that of some program that has this line. The tools have a row of their own."""
    every = [part for file in FILES for part in parts(file) if part[1]]
    words = [part.split() for _, command, _ in every for part in re.split(" -- | ::: ", command.replace("\n", " "))]
    used = dict[tuple[str, str], bool]()
    for _, command, lines in every:
        program, *rest = command.split()
        options = re.findall(r"^  (-\w, +|    )(--[a-z-]+) (.*)$", "\n".join(lines), re.MULTILINE) if "/" in program and rest == ["--help"] else []
        for short, long, says in options:
            given = any(program in each and {short[:2], long} & {*each} for each in words)
            used[long, says] = used.get((long, says), "has no effect" in says) or given
    assert len(used) > 50 and [long for (long, _), is_used in used.items() if not is_used] == []


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in SEEDS[1:])])
@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_transcript(file: Path, seed: int) -> None:
    wrong = []
    for _, command, due in parts(file):
        if command and (found := as_due(printed(command, seed), due)) != due:
            wrong += [f"\n$ {command}", *difflib.unified_diff(due, found, "transcript", "printed", lineterm="")]
    assert not wrong, "\n".join([*wrong, "make approve writes what is printed now; read it as a user would"])


def approved(part: tuple[str, str, list[str]]) -> tuple[str, str, list[str]]:
    """Returns the transcript's lines, if they are printed; else the printed ones."""
    before, command, due = part
    if command and as_due(printed(command), due) != due:
        due = merged([printed(command, seed) for seed in (SEEDS if "verbs-sim " in command else [1])])
    return before, command, due


def main(names: list[str]) -> None:
    """Writes these transcripts, or all."""
    for file in FILES:
        if not names or file.stem in names:
            with ThreadPoolExecutor(4) as pool:
                text = "".join(shown(*part) for part in pool.map(approved, parts(file)))
            file.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
