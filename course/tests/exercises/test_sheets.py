# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The code that a sheet names is there: it is compiled in the tree with which a student begins.

Contract: code is what stands between backticks, or in a fenced block of C, and has the form of C. A name alone may also be a
field, an option's variable or a file of the tree.
"""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from course import edit, make
from course.exercises import EXERCISES, Exercise

# The variables with which a sheet's expressions begin, and their types. The student's functions have such parameters.
VARIABLES = {
    "client agent control": "struct our_control *{name}",
    "blast": "struct our_blast *{name}",
    "pool": "struct our_pool *{name}",
    "run": "struct our_run *{name}",
    "watch": "struct our_watch *{name}",
    "channel": "struct our_comp_channel *{name}",
    "bare": "struct our_bare *{name}",
    "attr": "struct ibv_qp_init_attr {name}",
    "cap": "struct ibv_qp_cap {name}",
    "local": "struct our_bare_end {name}",
}
BLOCK = re.compile(r"^```c\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MEMBER = re.compile(r"[a-z_]\w*(?:\[\w+\]|(?:->|\.)[a-z_]\w*|\(\w+\)(?=->))+")
CALL = re.compile(r"[a-z_]\w*\([\w, >-]*\)(?:(?:->|\.)\w+)*")
NAME = re.compile(r"[A-Za-z_]\w*")
FILE = re.compile(r"[\w./-]+\.(?:c|h|md)")


def spans(exercise: Exercise) -> Iterator[str]:
    """The text between backticks. A line may end in a span."""
    yield from (" ".join(span.split()) for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", exercise.task.read_text()))


def statements(exercise: Exercise) -> list[str]:
    """The expressions that a sheet names, each as a statement, and its blocks."""
    found = [f"(void)sizeof({span});" for span in spans(exercise) if not FILE.fullmatch(span) and (CALL.fullmatch(span) or MEMBER.fullmatch(span))]
    return found + [f"{{ {block} }}" for block in BLOCK.findall(exercise.task.read_text())]


def declarations(code: list[str]) -> list[str]:
    """Declarations of the variables that these statements use."""
    words = set(NAME.findall(" ".join(code)))
    used = {name: kind for names, kind in VARIABLES.items() for name in names.split() if name in words}
    return [kind.format(name=name) + ";" for name, kind in used.items()]


@pytest.fixture(name="tree")
def _tree(exercise: Exercise, tmp_path: Path) -> Path:
    """The tree with which a student begins."""
    make.write(exercise, tmp_path / "mine")
    return tmp_path / "mine"


def compiler(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs the compiler in the tree."""
    return subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", "-I.", *words], cwd=tree, capture_output=True, text=True, timeout=60)


each = pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)


@each
def test_its_expressions_compile(exercise: Exercise, tree: Path) -> None:
    code = statements(exercise)
    body = "\n\t".join([*declarations(code), "int error = 0, i = 0;", "(void)error;", "(void)i;", *code])
    file = tree / exercise.file
    file.write_text(f"{file.read_text()}\nvoid sheet(void);\nvoid sheet(void)\n{{\n\t{body}\n}}\n")
    said = compiler(tree, "-Werror=implicit-function-declaration", "-w", "-fsyntax-only", exercise.file)
    assert said.returncode == 0, said.stderr


@each
def test_its_names_are_there(exercise: Exercise, tree: Path) -> None:
    """Each name is in a source of the tree, or in a header that the student's file includes."""
    known = set(NAME.findall(compiler(tree, "-E", "-dD", exercise.file).stdout))
    known |= {name for path in tree.rglob("*.[ch]") for name in NAME.findall(edit.without_comments(path.read_text()))}
    names = {span for span in spans(exercise) if NAME.fullmatch(span)}
    assert len(names) >= 2
    assert names - known - {"make", *exercise.forbidden} == set()
    files = {span for span in spans(exercise) if FILE.fullmatch(span) and not span.startswith(("docs/", "tests/"))}
    assert not [name for name in files if not [path for path in tree.rglob("*.[ch]") if str(path).endswith(f"/{name}")]]
