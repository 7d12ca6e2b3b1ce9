# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Commands and all that they print: transcripts/*.txt, which a person has read. `make approve` rewrites what has changed.

Contract: a command is run by bash at the top of the tree, with bin/ on the PATH. In a transcript, what it has written to stdout comes
first, that of program 0 before that of program 1, then stderr after `2| `, then an exit status that is not 0, in brackets. Figures have
two digits. Where seeds differ, `~N` is within a twentieth of N, # is any number, and ... any lines; but a run of `# ms` that ends by
itself is over within a second. `make approve` finds these by other seeds when it writes, and `test_transcripts.py NAME...` looks at
them, too, before. `$T` is an empty folder.
"""

from __future__ import annotations

import difflib
import functools
import itertools
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
FILES = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))
SEEDS = range(1, 8)
NEAR, SPREAD = 0.05, 0.08  # so a tenth more or less than any seed's is noticed
FIGURE = re.compile(r"(?<![\w.])\d+\.\d+(?![.\w])|\d+(?= messages/s)")
NUMBER = re.compile(r"0x[0-9a-f]+|~?\d+(?:\.\d+)?|#")
LARGE = re.compile(r"(?<![\w.:])(\d+\.\d+|\d{3,})$")
SOON = re.compile(r"verbs-sim: status [\d/#]+, (?!told|.*SILENCE).* # ms$")  # nobody is told to stop, and no host is silent
LONG = re.compile(r"verbs-sim: .* \d{4,}(?:\.\d+)? ms$")  # a wake-up that is lost costs a second or more
LAST = re.compile(r", calls [\d/]+|, hash [0-9a-f]{16}: .*")


def to_digits(number: float, digits: int = 2) -> str:
    value = f"{float(f'{number:.{digits}g}'):.9f}"
    return value.rstrip("0").rstrip(".")


def rounded(line: str) -> str:
    """Rounds each figure of a line to two digits."""
    return FIGURE.sub(lambda figure: to_digits(float(figure[0])), line)


def printed(command: str, seed: int = 1) -> list[str]:
    """Returns the output with this seed."""
    command = re.sub(r"\bverbs-sim (?=.*-- )", f"verbs-sim --apart --seed {seed} ", command, count=1)
    with tempfile.TemporaryDirectory() as folder:
        argv = ["env", "-i", f"PATH={TOP}/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", f"T={folder}", "bash", "-c", command]
        done = subprocess.run(argv, cwd=TOP, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=120)
    out, err = (text.replace(folder, "$T").replace(f"{TOP}/", "").splitlines() for text in (done.stdout, done.stderr))
    lines = [*out, *(f"2| {line}" for line in err), *([f"[{done.returncode}]"] if done.returncode else [])]
    return [LAST.sub("", line).rstrip() for line in lines]


def is_due(number: str, exact: str, due: str) -> bool:
    """Returns true if a number that was printed, shown as `number`, may stand for this one of the transcript."""
    return due in ("#", number) or (due[0] == "~" and abs(float(exact) / float(due[1:]) - 1) <= NEAR)


def fits(line: str, due: str) -> bool:
    numbers = (NUMBER.findall(text) for text in (rounded(line), line, due))
    return NUMBER.sub("#", line) == NUMBER.sub("#", due) and all(is_due(*each) for each in zip(*numbers))


def fit(lines: list[str], due: list[str]) -> bool:
    """Returns true if the lines that were printed are those of the transcript."""
    if due[:1] == ["..."]:
        return any(fit(lines[skipped:], due[1:]) for skipped in range(len(lines) + 1))
    return bool(lines and due) and fits(lines[0], due[0]) and fit(lines[1:], due[1:]) or not (lines or due)


def as_due(lines: list[str], due: list[str]) -> list[str]:
    """Returns the transcript's lines if the output fits them; else each line that was printed."""
    return due if fit(lines, due) else [next((one for one in due if fits(line, one)), rounded(line)) for line in lines]


def in_vain(lines: list[str], due: list[str]) -> bool:
    """Returns true if a run that ends by itself, and in one way, has taken long, although its length is that of its messages."""
    return "..." not in due and any(map(SOON.search, due)) and any(map(LONG.search, lines))


def common(one: list[str], other: list[str]) -> list[str]:
    """Returns the lines of both, and ... where they differ."""
    found, at = list[str](), (0, 0)
    for i, j, n in difflib.SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks():
        found += ["..."] * (at != (i, j) and found[-1:] != ["..."]) + one[i : i + n]
        at = (i + n, j + n)
    return found


def shown_as(numbers: list[str], exact: list[str], is_near: bool) -> str:
    """Returns what stands for a number of all runs."""
    if len({*numbers}) == 1:
        return numbers[0]
    if not is_near:
        return "#"
    values = [float(number) for number in exact]
    middle = to_digits((min(values) + max(values)) / 2, 3)
    return f"~{middle}" if max(values) - min(values) <= SPREAD * float(middle) else "#"


def merged_line(lines: list[str]) -> str:
    """Returns the text for a line of all runs. Neither small counts nor ports may be near each other."""
    exact = [*zip(*(NUMBER.finditer(line) for line in lines))]
    shown = zip(*(NUMBER.findall(rounded(line)) for line in lines))
    nears = [all(LARGE.search(line[: one.end()]) for one, line in zip(column, lines)) for column in exact]
    masked = iter([shown_as([*numbers], [one[0] for one in column], near) for numbers, column, near in zip(shown, exact, nears)])
    return NUMBER.sub(lambda _: next(masked), rounded(lines[0]))


def merged(runs: list[list[str]]) -> list[str]:
    """One text for several runs, in which ... stands for lines that differ."""
    shapes = [[NUMBER.sub("#", line) for line in run] for run in runs]
    at, lines = [0] * len(runs), list[str]()
    for shape in functools.reduce(common, shapes):
        if shape != "...":
            at = [each.index(shape, begin) + 1 for each, begin in zip(shapes, at)]
            shape = merged_line([run[end - 1] for run, end in zip(runs, at)])
        lines.append(shape)
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
    "verbs-sim": {"--apart": "each has it", "--gdb": "a debugger talks", "--version": "differs with each commit"},
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
        lines = printed(command, seed) if command else []
        if (found := as_due(lines, due)) != due or in_vain(lines, due):
            wrong += [f"\n$ {command}", *["it waits in vain"] * in_vain(lines, due), *difflib.unified_diff(due, found, "transcript", "printed", lineterm="")]
    assert not wrong, "\n".join([*wrong, "make approve writes what is printed now; read it as a user would"])


def approved(part: tuple[str, str, list[str]], seeds: Sequence[int]) -> tuple[str, str, list[str]]:
    """Returns the transcript's lines, if they are printed with these seeds; else the printed ones."""
    before, command, due = part
    by_seed = SEEDS if "verbs-sim " in command else [1]
    if command and any(as_due(printed(command, seed), due) != due for seed in seeds if seed in by_seed):
        due = merged([printed(command, seed) for seed in by_seed])
    return before, command, due


def main(names: list[str]) -> None:
    """Writes these transcripts, or all of which seed 1 prints something else."""
    for file in FILES:
        if not names or file.stem in names:
            with ThreadPoolExecutor(4) as pool:
                text = "".join(shown(*part) for part in pool.map(approved, parts(file), itertools.repeat(SEEDS if names else [1])))
            file.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
