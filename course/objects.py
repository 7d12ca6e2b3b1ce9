# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Keeps the object files of the project's own sources, so that a grading compiles only the student's file.

Place: used by grade.py. Contract: they are made of the project's own sources only, on this machine; nothing of a
submission is. A tree gets the kept objects only if all its files except the student's, the compiler and its flags are
those that the objects were made with.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from .exercises import TOP, Exercise

STORE = TOP / "build/course/objects"
BUILT = "build"  # where a tree's Makefile puts the objects


@cache
def compiler() -> bytes:
    """The compiler and its flags."""
    said = subprocess.run(["cc", "--version"], capture_output=True, check=True).stdout
    return said + repr([os.environ.get(name) for name in ("CC", "CFLAGS", "CPATH")]).encode()


def place(exercise: Exercise, tree: Path) -> Path:
    """The folder for the objects of such a tree. The tree must not have been built yet."""
    whole = hashlib.sha256(compiler())
    for path in sorted(tree.rglob("*")):
        name = str(path.relative_to(tree))
        if path.is_file() and name != exercise.file:
            whole.update(name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return STORE / f"{exercise.name}-{whole.hexdigest()[:16]}"


def take(kept: Path, tree: Path) -> bool:
    """Copies the objects into a tree, if there are any. They are newer than its sources, so make does not build them
    again."""
    if not kept.is_dir():
        return False
    shutil.copytree(kept, tree / BUILT, copy_function=shutil.copyfile)
    return True


def keep(kept: Path, exercise: Exercise, tree: Path) -> None:
    """Keeps the objects of a tree that has been built, except the student's, and the archive that may contain it."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as name:
        copy = Path(name) / "objects"
        shutil.copytree(tree / BUILT, copy, ignore=shutil.ignore_patterns("*.a"))
        (copy / exercise.file).with_suffix(".o").unlink()
        try:
            copy.rename(kept)
        except OSError:  # another grading has kept them first
            pass


def add(exercise: Exercise, tree: Path) -> None:
    """Puts the objects into a tree whose files are all the project's."""
    kept = place(exercise, tree)
    if not take(kept, tree):
        subprocess.run(["make", "-C", str(tree), "-s", "--no-print-directory", "-j2"], check=True)
        keep(kept, exercise, tree)
        subprocess.run(["make", "-C", str(tree), "-s", "--no-print-directory", "clean"], check=True)
        take(kept, tree)
