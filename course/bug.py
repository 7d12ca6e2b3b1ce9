# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Bug labs: a program with one planted fault, hints, and a check of the student's repair.

Place: `make bug`, `make bug-hint`, `make bug-check`, `make bugs` call it. Contract: the faults are in bugs/*.toml, as
named replacements (edit.py) in sources of the stages. A student's tree holds the number of its bug, and nothing that
says what the bug is.
"""

import argparse
import hashlib
import random
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from . import cut, edit, make_sim, over_sim, trees
from .reasons import printable
from .trees import TOP

FOLDER = TOP / "course/bugs"
NUMBER, TAKEN = "BUG", "HINTS"  # files of a student's tree
UNBUILT = "It does not compile: "

README = """# A bug

{stage} is in this folder, and its {role} has one fault.

{symptom}

Find the fault, and fix it: a few lines at most are wrong, in one function or in two that belong together. Everything
else is correct. Some files have no comments: these would say what is right.

    make                         # builds the client and the server
    make {other}    # the other side, without the fault
    lab/run --writable {where} -- bash -c 'timeout 20 {server} &
        timeout 20 {client} -w 5 -c 100 -v -a $LAB_ROCE_ADDR; echo "client: exit status $?"; wait $!; echo "server: exit status $?"'
    make bug-hint DIR={where}    # one more hint each time
    make bug-check DIR={where}   # says if it is fixed

An exit status of 124 means that the program did not end within 20 s, and one above 128 that a signal ended it: 139 is
SIGSEGV. Type all commands except the first in the project's directory. Only changes in .c files count. If you compare the
folder with the project's own sources, you find the fault in a second, and learn nothing.
"""


class Unfit(Exception):
    """The command cannot do what was asked for."""


@dataclass(frozen=True)
class Edit:
    """One edit: in this function of this file, replace this text with that."""

    file: str
    function: str
    old: str
    new: str


@dataclass(frozen=True)
class Bug:
    """A fault, its symptom, and the tests that notice it."""

    name: str
    topic: str
    level: int  # from 1, easy, to 3
    stage: str
    role: str
    symptom: str
    hint: str
    lesson: str
    edits: tuple[Edit, ...]
    sanitizer: str = "asan"

    @property
    def number(self) -> str:
        """Returns the name under which a student's tree refers to the bug."""
        return hashlib.sha256(self.name.encode()).hexdigest()[:6]

    @property
    def hints(self) -> list[str]:
        """Hints, from where to look to the rule that is broken."""
        files = list(dict.fromkeys(each.file for each in self.edits))
        functions = list(dict.fromkeys(each.function for each in self.edits))
        return [
            self.hint,
            f"The fault is in {' and '.join(files)}.",
            f"It is in the function {' and '.join(functions)}.",
            f"The rule that is broken: {self.lesson}",
        ]


def _bugs_of(path: Path) -> list[Bug]:
    """The bugs of a file. The file's name is their topic, unless a row names another."""
    found = []
    for row in tomllib.loads(path.read_text())["bug"]:
        fields: dict[str, Any] = {"topic": path.stem, **row}
        fields["edits"] = tuple(Edit(**each) for each in fields.pop("edit"))
        found.append(Bug(**fields))
    return found


@cache
def every() -> tuple[Bug, ...]:
    """All bugs, the easy ones first."""
    bugs = [bug for path in sorted(FOLDER.glob("*.toml")) for bug in _bugs_of(path)]
    return tuple(sorted(bugs, key=lambda bug: (bug.topic, bug.level, bug.name)))


def chosen(seed: int, topic: str = "", level: int = 0) -> Bug:
    """The bug that a seed chooses. If a bug is added to the table, few seeds choose another one than before."""
    bugs = [bug for bug in every() if topic in ("", bug.topic) and level in (0, bug.level)]
    if not bugs:
        topics = ", ".join(sorted({bug.topic for bug in every()}))
        raise Unfit(f"no bug of the topic '{topic or 'any'}' and level {level or 'any'}; levels are 1 to 3, topics: {topics}")
    return min(bugs, key=lambda bug: hashlib.sha256(f"{seed} {bug.number}".encode()).digest())


def plant(edits: Iterable[Edit], tree: Path) -> None:
    """Puts the edits into the tree's sources."""
    for each in edits:
        path = tree / each.file
        path.write_text(edit.replace(path.read_text(), each.function, each.old, each.new))


def silence(tree: Path) -> None:
    """Removes the comments of each file in which some bug is, because they say what the original does, and why."""
    for path in sorted({tree / each.file for bug in every() for each in bug.edits}):
        if path.exists():
            path.write_text(edit.without_comments(path.read_text()))


def write(bug: Bug, directory: Path) -> None:
    """Writes a student's tree."""
    trees.write(directory, bug.stage, "")
    plant(bug.edits, directory)
    silence(directory)
    sides = {role: f"{directory if role == bug.role else bug.stage}/{role}" for role in ("client", "server")}
    other = sides["client" if bug.role == "server" else "server"]
    readme = README.format(stage=bug.stage, role=bug.role, symptom=bug.symptom, where=directory, other=other, **sides)
    (directory / "README.md").write_text(readme)
    (directory / NUMBER).write_text(bug.number + "\n")


def bug_of(directory: Path) -> Bug:
    """The bug in a student's tree."""
    try:
        number = (directory / NUMBER).read_text().strip()
    except OSError as error:
        raise Unfit(f"{directory} has no file {NUMBER}: was it made by make bug?") from error
    for bug in every():
        if bug.number == number:
            return bug
    raise Unfit(f"{directory}: there is no bug {number[:20]}")


def check(bug: Bug, tree: Path) -> str:
    """Returns an empty string if the fault is repaired, else the reason why it is not."""
    for sanitizer in dict.fromkeys((bug.sanitizer, "asan")):
        try:
            why = make_sim.check(tree, bug.stage, bug.role, over_sim.OF_EVERY_STAGE, sanitizer)[1]
        except make_sim.DoesNotBuild as reason:
            return f"{UNBUILT}{reason}"
        if why:
            return why
    return ""


def make(options: argparse.Namespace) -> int:
    """Carries out `make bug`."""
    if options.directory.exists():
        raise Unfit(f"{options.directory} exists already: choose another DIR")
    seed = random.randrange(1000) if options.seed is None else options.seed
    bug = chosen(seed, options.topic, options.level)
    write(bug, options.directory)
    print(f"{options.directory}: {bug.stage}, level {bug.level} of 3, topic {bug.topic} (SEED={seed})\n\n{bug.symptom}\n")
    print(f"Find it and fix it; {options.directory}/README.md says how.")
    return 0


def hint(options: argparse.Namespace) -> int:
    """Carries out `make bug-hint`: prints one more hint each time, or the number that is asked for."""
    bug = bug_of(options.directory)
    path = options.directory / TAKEN
    taken = len(path.read_text().splitlines()) if path.exists() else 0
    shown = bug.hints[: options.hint or taken + 1]
    for number, text in enumerate(shown, 1):
        print(f"{number} of {len(bug.hints)}: {text}")
    if len(shown) > taken:
        path.write_text("".join(text + "\n" for text in shown))
    return 0


def readable(bug: Bug, why: str) -> str:
    """The reason in lines: what was seen, what the programs said, and the command that shows it."""
    return why if why.startswith(UNBUILT) else f"The {bug.role} over the simulated device:\n  " + why.replace("; ", "\n  ")


def judge(options: argparse.Namespace) -> int:
    """Carries out `make bug-check`. Returns exit status 0 if the fault is repaired, 1 if not."""
    bug = bug_of(options.directory)
    why = check(bug, options.directory)
    if why:
        print(f"not fixed. {readable(bug, printable(why))}")
        return 1
    print(f"fixed. {bug.lesson}")
    return 0


def seeds() -> dict[str, int]:
    """The first seed that chooses each bug."""
    found: dict[str, int] = {}
    for seed in range(2000):
        found.setdefault(chosen(seed).name, seed)
        if len(found) == len(every()):
            break
    return found


def show(_: argparse.Namespace) -> int:
    """Carries out `make bugs`, which names a seed for each bug. It is for instructors."""
    first = seeds()
    for bug in every():
        where = f"{bug.stage}/{bug.role}"
        print(f"{bug.topic:21} {bug.level}  SEED={first.get(bug.name, '-'):<4} {where:22} {bug.name}")
    return 0


def fit(_: argparse.Namespace) -> int:
    """Checks for tools/lint that each edit still applies. Returns exit status 1 if one does not."""
    failed = False
    for bug in every():
        sources: dict[str, str] = {}
        for each in bug.edits:
            try:
                source = sources.get(each.file) or (TOP / each.file).read_text()
                sources[each.file] = edit.replace(source, each.function, each.old, each.new)
            except (edit.DoesNotApply, cut.NotThere, OSError) as reason:
                print(f"course/bugs: {bug.name}: {each.file}: {reason}", file=sys.stderr)
                failed = True
    return int(failed)


def parse() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="make bug", description="Programs with a fault to be found.")
    verbs = parser.add_subparsers(required=True)
    for name, action in (("make", make), ("hint", hint), ("check", judge)):
        verb = verbs.add_parser(name)
        verb.add_argument("directory", type=Path)
        verb.set_defaults(action=action)
        if name == "make":
            verb.add_argument("--seed", type=int)
            verb.add_argument("--topic", default="")
            verb.add_argument("--level", type=int, default=0)
        elif name == "hint":
            verb.add_argument("--hint", type=int, default=0)
    verbs.add_parser("list").set_defaults(action=show)
    verbs.add_parser("fit").set_defaults(action=fit)
    return parser.parse_args()


def main() -> int:
    """Returns the exit status."""
    options = parse()
    try:
        status: int = options.action(options)
    except Unfit as unfit:
        print(f"make bug: {unfit}", file=sys.stderr)
        return 2
    return status


if __name__ == "__main__":
    sys.exit(main())
