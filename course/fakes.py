# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Builds a student's program over the fake verbs of tests/fake, and runs the tests there.

Place: used by bug.py, which builds and runs on this machine, and grade.py, which builds in the jail of the lab. Contract:
only sources (.c) of the program are taken from the student's tree. Those that differ from the project's are compiled,
with the project's headers; all else is the project's.
"""

import os
import re
import shlex
import subprocess
from pathlib import Path

from . import edit
from .trees import TOP, answer, without_make

FAKE = TOP / "build/tests/fake"
HANGS_MS = 12000  # a run over the fake takes milliseconds
LIMIT_S = 600  # by the clock: on a machine with much other work, threads that take turns wait most of the time
COMPILE_LIMIT_S = 120


class DoesNotBuild(Exception):
    """The compiler or the linker refuses it."""


def prepare(sanitizer: str) -> None:
    """Builds the project's own parts, if they are not there yet."""
    environment = {**without_make(), "TESTS_ALL": "1"}  # without it ThreadSanitizer's has not all stages
    target = f"build/tests/fake/{sanitizer}/programs"
    jobs = f"-j{os.cpu_count() or 1}"
    subprocess.run(["make", "--no-print-directory", "-s", jobs, target], cwd=TOP, env=environment, check=True)


def commands(stage: str, role: str, sanitizer: str) -> tuple[list[str], list[str], list[str], list[str]]:
    """Of a test program, its sources, and the Makefile's words that compile one of them, and begin and end the link."""
    prepare(sanitizer)

    def lines(question: str) -> list[list[str]]:
        return [shlex.split(line) for line in answer(question, STAGE=stage, ROLE=role, SANITIZER=sanitizer).splitlines()]

    parts = [word for line in lines("print-fake-parts") for word in line]
    link, libraries = lines("print-fake-link")[:2]
    return parts, lines("print-fake-compile")[0], link, libraries


def _run(command: list[str], limit_s: int) -> None:
    """Runs a compiler."""
    try:
        result = subprocess.run(["env", "LC_ALL=C", *command], cwd=TOP, capture_output=True, text=True, errors="replace", timeout=limit_s)
    except subprocess.TimeoutExpired as late:
        raise DoesNotBuild(f"it is not built after {limit_s} s") from late
    if result.returncode:
        said = re.findall(r"^.*(?:error:|undefined reference).*$", result.stderr, re.MULTILINE)
        raise DoesNotBuild(" / ".join(said[:3])[:600] or result.stderr[-300:])


def build(tree: Path, stage: str, role: str, sanitizer: str, out: Path) -> Path:
    """Builds the test program of the tree's program in the folder `out`. Raises DoesNotBuild."""
    parts, compiler, link, libraries = commands(stage, role, sanitizer)
    objects = []
    for part in parts:
        source = tree / part
        own = source.is_file() and not source.is_symlink() and not part.startswith("tests/")
        if not own or edit.same(source.read_text(errors="replace"), (TOP / part).read_text()):
            objects.append(str(FAKE / sanitizer / part.replace(".c", ".o")))
            continue
        compiled = out / (part.replace("/", "-") + ".o")
        _run(["prlimit", "--as=8000000000", "--cpu=120", *compiler, "-w", "-c", str(source), "-o", str(compiled)], COMPILE_LIMIT_S)
        objects.append(str(compiled))
    program = out / f"{role}-{sanitizer}"
    _run([*link, *objects, *libraries, "-o", str(program)], COMPILE_LIMIT_S)
    return program


def pack(file: str, stage: str, name: str, tree: Path) -> list[list[str]]:
    """Puts the objects of the project's own parts into a grader's tree. Returns the commands that compile the student's
    file there and link it with them. The program's name is fake-ROLE-SANITIZER."""
    _, role, sanitizer = name.split("-")
    parts, compiler, link, libraries = commands(stage, role, sanitizer)
    own = f"{sanitizer}.o"
    kept = [str(FAKE / sanitizer / part.replace(".c", ".o")) for part in parts if part != file]
    subprocess.run(["ar", "qcs", str(tree / f"{name}.a"), *kept], check=True)
    whole = ["-Wl,--whole-archive", f"{name}.a", "-Wl,--no-whole-archive"]
    return [[*compiler, "-w", "-c", file, "-o", own], [*link, own, *whole, *libraries, "-o", name]]


def outcomes(said: str, stage: str, role: str) -> tuple[list[str], str]:
    """Of what a test program printed, the names of the tests passed, and the first that failed, with the reason, or ""."""
    found = re.findall(rf"^(not )?ok {stage}/{role} (.*)", said, re.MULTILINE)
    return [text for bad, text in found if not bad], next((text for bad, text in found if bad), "")


def run(program: Path, stage: str, role: str, what: str) -> tuple[list[str], str]:
    """Runs one group of tests. Returns the names of those passed, and what the first that failed said, or ""."""
    environment = {"PATH": os.environ["PATH"], "FAKE_FIRST_ONLY": "1", "FAKE_LIMIT_MS": str(HANGS_MS)}
    command = ["timeout", "-k", "5", str(LIMIT_S), str(program), f"{stage}/{role}", what]
    result = subprocess.run(command, cwd=TOP, env=environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
    passed, failed = outcomes(result.stdout.decode(errors="replace"), stage, role)
    if not failed and (result.returncode or not passed):
        return passed, f"{what}: the tests themselves ended early, with exit status {result.returncode}"
    return passed, failed
