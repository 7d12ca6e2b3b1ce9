# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The tables that pages ask for, such as those of the exercises and of the bug labs: course/exercises.py, course/bugs/*.toml.

Place: used by tools/site/markdown.py and __main__.py. Contract: no word of a solution, of a fault or of a hint.
"""

import ast
from collections.abc import Callable
from pathlib import Path

from course import bug
from course.exercises import EXERCISES
from tools.folders import folder

from . import counted, prototypes, symptoms
from .pages import EXERCISE_PAGES, TOP
from .sources import NotThere

COMMANDS = """

## The commands

Typed in the project's directory:

    make exercise NAME={name} DIR=mine     # a starting tree, with this text as README.md
    make -C mine                           # you write {file}
    make grade DIR=mine                    # points, and the reason for each that is lost
"""


def commands(page: str) -> str:
    """Returns the rest of an exercise's page, after its task."""
    exercise = EXERCISES[EXERCISE_PAGES[page]]
    return COMMANDS.format(name=exercise.name, file=exercise.file)


def title(name: str) -> str:
    """Returns the title of an exercise."""
    first, prefix = EXERCISES[name].task.read_text().split("\n", 1)[0], f"# Exercise {name}: "
    if not first.startswith(prefix):
        raise NotThere(f"course/exercises/{name}.md does not begin with '{prefix}'")
    return first.removeprefix(prefix)


def exercises() -> str:
    """A row for each exercise."""
    rows = ["| NAME | about | you write | stage |", "|---|---|---|---|"]
    for one in EXERCISES.values():
        stage = f"[{one.stage}](../../{folder(one.stage)}/README.md)"
        rows.append(f"| [{one.name}]({one.name}.md) | {title(one.name)} | `{one.file}` | {stage} |")
    return "\n".join(rows) + "\n"


def bugs() -> str:
    """A row for each bug, by topic, the easy ones first: what a student is told of it, and its seed."""
    text, topic, seeds = "", "", bug.seeds()
    for one in bug.every():
        if one.name not in seeds:
            raise NotThere(f"course/bugs: no seed chooses {one.name}")
        if one.topic != topic:
            topic = one.topic
            text += f"\n## Topic: {topic}\n\n| level | SEED | program | what is seen |\n|---|---|---|---|\n"
        seen = one.symptom.replace("|", "\\|")
        text += f"| {one.level} | {seeds[one.name]} | {one.stage}, {one.role} | {seen} |\n"
    return text


def says(file: Path) -> str:
    """The first sentences of what a file of Python says of itself."""
    said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return " ".join(said.partition("\n\n")[0].split())


def live() -> str:
    """The files of tests/live."""
    files = sorted((TOP / "tests/live").glob("test_*.py"))
    return "| file | shows |\n|---|---|\n" + "".join(f"| `{file.name}` | {says(file)} |\n" for file in files)


TABLES: dict[str, Callable[[], str]] = {
    "exercises": exercises,
    "bugs": bugs,
    "live": live,
    "examples": counted.examples,
    **symptoms.TABLES,
}


def table(name: str) -> str:
    """The table that a page asks for."""
    if name in TABLES:
        return TABLES[name]()
    if name in prototypes.parts():
        return prototypes.block(name)
    raise NotThere(f"there is no table {name}")
