# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Finds what a class has handed in: trees of `make exercise` in folders and zips, as learning platforms (LMS) give them.

Place: between the folder or zip of a class and grade_all.py. Contract: each entry of the class is one student's. Of a zip,
only files that the grader takes are written, below a folder of the grader's. Whatever is wrong with a student's folder or
zip is that student's reason, and never an exception.
"""

import os
import stat
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from .exercises import EXERCISES

LONGEST_SOURCE = 200_000
LARGEST_ZIP = 20_000_000  # bytes of a student's zip
MOST_BYTES = 40_000_000  # bytes that all zips of a student may unpack to
LEAST_BYTES = 2_000  # bytes that each entry counts as, at least
MOST_ENTRIES = 20_000  # files and folders of a student that are looked at
DEPTH = 6  # levels of folders and zips in each other
MOST = 2 * len(EXERCISES)  # hand-ins of a student, at most
TAKEN = {"EXERCISE", "HOURS", *(Path(exercise.file).name for exercise in EXERCISES.values())}
ARCHIVES = (".zip", ".7z", ".bz2", ".gz", ".rar", ".tar", ".tgz", ".xz")
NOBODYS = "__MACOSX"  # macOS adds it to a zip


class Refused(Exception):
    """A zip that is not unpacked, or an entry of it."""


@dataclass(frozen=True)
class HandIn:
    """A tree to grade, or the reason why there is none."""

    name: str  # the path below the class
    tree: Path | None
    reason: str = ""


def student(name: str) -> str:
    """The student whose submission a path is: learning platforms add numbers after the first underscore of the name."""
    return PurePosixPath(name).parts[0].partition("_")[0].removesuffix(".zip")


@dataclass
class _Search:
    """A search for the hand-ins of one student."""

    scratch: Path
    left: int = MOST_ENTRIES
    bytes_left: dict[tuple[str, ...], int] = field(default_factory=dict)
    found: list[HandIn] = field(default_factory=list)

    def look(self, path: Path, name: str, depth: int = 0) -> None:
        """Looks into a folder or a zip."""
        self.left -= 1
        if self.left < 0:
            raise Refused(f"more than {MOST_ENTRIES} files and folders")
        if path.is_symlink():
            if depth == 0 or (path / "EXERCISE").exists():
                raise Refused("it is a symbolic link")
        elif path.is_dir():
            self.look_into(path, name, depth)
        elif path.suffix.lower() == ".zip":
            self.look_into(unpacked(path, self.scratch, self.bytes_left), name, depth)
        elif path.suffix.lower() in ARCHIVES:
            raise Refused("it is an archive, and no zip")

    def look_into(self, folder: Path, name: str, depth: int) -> None:
        """Looks at a folder, and at what is in it if it is no hand-in."""
        if (folder / "EXERCISE").exists():
            self.found.append(HandIn(name, folder))
        elif depth < DEPTH:
            for path in sorted(folder.iterdir()):
                if path.name != NOBODYS:
                    self.look_or_note(path, f"{name}/{path.name}", depth + 1)

    def look_or_note(self, path: Path, name: str, depth: int = 0) -> None:
        """Does the same as look, and notes why something is refused."""
        try:
            self.look(path, name, depth)
        except Exception as why:  # a damaged zip can raise anything
            self.found.append(HandIn(name, None, str(why)))


def _place(entry: zipfile.ZipInfo) -> PurePosixPath:
    """The place of an entry, below the folder into which the zip is unpacked."""
    name = PurePosixPath(entry.filename.replace("\\", "/"))
    if name.is_absolute() or ".." in name.parts or not name.parts:
        raise Refused("it would leave its folder")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise Refused("it is a symbolic link")
    return name


def _data(file: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path, left: int) -> bytes:
    """Writes an entry, if the grader takes it. Returns what was written."""
    (path if entry.is_dir() else path.parent).mkdir(parents=True, exist_ok=True)
    inner = path.suffix.lower() == ".zip"
    if entry.is_dir():
        return b""
    if not inner and path.name not in TAKEN:
        path.touch()  # an empty file shows that the entry was there
        return b""
    limit = min(LARGEST_ZIP if inner else LONGEST_SOURCE, left)
    with file.open(entry) as source:
        data = source.read(limit + 1)  # the zip may lie about the length
    if len(data) > limit:
        raise Refused(f"it has more than {limit} bytes")
    path.write_bytes(data)
    written = time.mktime((*entry.date_time, 0, 0, -1))  # the zip has its maker's local time
    os.utime(path, (written, written))
    return data


def _entries(archive: Path, target: Path, left: dict[tuple[str, ...], int], of_class: bool = False) -> Iterator[HandIn]:
    """Writes the entries that the grader takes, and zips. Yields those that it refuses. `left`: bytes that each student has left."""
    with zipfile.ZipFile(archive) as file:
        tops = {entry.filename.partition("/")[0] for entry in file.infolist()}
        depth = (1 if len(tops) > 1 else 2) if of_class else 0  # folders above those of the students
        for entry in file.infolist():
            try:
                name = _place(entry)
                whose = name.parts[:depth]
                if left.setdefault(whose, MOST_BYTES) < 0:
                    continue
                left[whose] -= max(LEAST_BYTES, len(_data(file, entry, target / name, left[whose])))
                if left[whose] < 0:
                    raise Refused(f"here the zip has more than {MOST_BYTES} bytes, or too many entries")
            except Exception as why:  # a damaged zip can raise anything
                yield HandIn(entry.filename, None, f"the zip's entry '{entry.filename[:100]}': {why}")


def unpacked(archive: Path, scratch: Path, left: dict[tuple[str, ...], int]) -> Path:
    """A folder with what a student's zip has. Raises Refused."""
    if not archive.is_file():  # a named pipe or a device may have no end
        raise Refused("it is no file")
    if archive.stat().st_size > LARGEST_ZIP:
        raise Refused(f"a zip of more than {LARGEST_ZIP} bytes")
    target = scratch / str(sum(1 for _ in scratch.iterdir()))
    target.mkdir()
    for entry in _entries(archive, target, left):
        raise Refused(entry.reason)
    return target


def _inside(folder: Path) -> list[Path]:
    """The entries of a folder that may be a student's."""
    found = [path for path in sorted(folder.iterdir()) if path.name[0] != "." and path.name != NOBODYS]
    return [path for path in found if path.is_dir() or path.is_symlink() or path.suffix.lower() in ARCHIVES]


def _students(top: Path) -> list[Path]:
    """An entry for each student of a class. If there is only a folder, returns the entries in it, if they are several."""
    inside = found = _inside(top)
    for _ in range(DEPTH):
        if len(inside) != 1 or not inside[0].is_dir() or inside[0].is_symlink() or (inside[0] / "EXERCISE").exists():
            break
        inside = _inside(inside[0])
    return inside if len(inside) > 1 else found


def _of_student(path: Path, name: str, scratch: Path) -> list[HandIn]:
    """All hand-ins of a student, at least one."""
    search = _Search(scratch)
    search.look_or_note(path, name)
    if not search.found:
        return [HandIn(name, None, "it has no file EXERCISE: was it made by make exercise?")]
    more = len(search.found) - MOST
    return search.found[:MOST] + [HandIn(f"{name}/...", None, f"{more} hand-ins more than {MOST}")] * (more > 0)


def hand_ins(given: Path, scratch: Path) -> list[HandIn]:
    """All hand-ins of a class, which is a folder or an LMS's zip. `scratch`: an empty folder for what is unpacked. Raises Refused, if
    there is no class."""
    top, found = given, []
    if not given.is_dir():
        top = scratch / "class"
        top.mkdir()
        try:
            found = list(_entries(given, top, {}, of_class=True))
        except (zipfile.BadZipFile, OSError) as why:
            raise Refused(f"{given} is no folder and no zip: {why}") from why
        files = [path.name for path in sorted(top.iterdir()) if path.is_file() and path.suffix.lower() not in ARCHIVES]
        found += [HandIn(name, None, "it is a file, and neither a folder nor a zip") for name in files]
    for path in _students(top):
        found += _of_student(path, str(path.relative_to(top)), scratch)
    if not found:
        raise Refused(f"there is no folder and no zip in {given}")
    return found
