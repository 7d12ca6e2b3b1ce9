# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Which pages the site has, in which order: the only list of them.

Place: the first part of tools/website. Contract: paths are relative to the top of the tree, and each is a
Markdown file that git tracks or would track; the stages are those that the Makefile names.
"""

import functools
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from course.exercises import EXERCISES
from tools.folders import folder

TOP = Path(__file__).resolve().parents[2]
ONE_FILE_STAGES = ["ping-ep-0"]
EXERCISE_PAGES = {f"course/exercises/{name}.md": name for name in EXERCISES}


@dataclass(frozen=True)
class Section:
    """A part of the site's table of contents."""

    title: str
    pages: list[str]


def make(*words: str) -> list[str]:
    """What the Makefile answers."""
    command = ["make", "--no-print-directory", "--silent", *words]
    unset = ("MAKEFLAGS", "MAKELEVEL")  # those of a make that calls us are not for the one that we ask
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    answer = subprocess.run(command, cwd=TOP, env=environment, capture_output=True, text=True, check=True)
    return answer.stdout.split()


@functools.cache
def stages() -> list[str]:
    """The stages, in the order in which they are read."""
    return [*make("print-stages"), *ONE_FILE_STAGES, *make("print-others")]


def existing(pattern: str) -> list[str]:
    """The paths that fit a pattern, sorted."""
    return sorted(str(path.relative_to(TOP)) for path in TOP.glob(pattern))


def sections(notes: bool = False) -> list[Section]:
    """The table of contents, without the front page. The notes for instructors, which have the answers, only if asked for."""
    concepts = ["primer", "adapters", "objects", "states", "nine", "glossary"]
    reference = ["verbs", "structures", "work-requests", "wc-status", "symptoms", "pitfalls", "protocol", "drivers", "reliability"]
    tools = ["capture", "verbs-trace", "verbs-trace-json"]
    private = [page for pattern in ("labs/*-notes.md", "written-test*.md", "slides/*-notes.md") for page in existing(f"course/{pattern}")]
    instructors = [Section("For instructors", private)] if notes else []
    return [
        Section("Concepts", ["docs/README.md", *(f"docs/{name}.md" for name in concepts)]),
        Section("Stages", [*(f"{folder(stage)}/README.md" for stage in stages()), "beyond/README.md"]),
        Section("Labs", existing("course/README.md") + existing("course/labs/lab-?.md") + ["course/mine/README.md", "course/teaching.md", "course/grading.md", "course/slides/README.md"]),
        Section("Exercises and bug labs", ["course/exercises/README.md", *EXERCISE_PAGES, "course/bugs/README.md"]),
        Section("Reference", [f"docs/{name}.md" for name in reference]),
        Section(
            "Tools and machines",
            ["examples/README.md", "docs/libraries.md", "docs/your-machines.md", "lab/README.md", "verbs-sim/README.md", "devices/README.md", "bench/README.md"]
            + [f"bench/{name}.md" for name in ("law", "published", "results", "compare", "fabric")]
            + ["ways/README.md", "ways/shared.md"]
            + [f"docs/{name}.md" for name in tools],
        ),
        Section("Behind it", ["CONTRIBUTING.md", "CHANGELOG.md", "docs/course-map.md", "tests/README.md", "tests/evidence.md", "tests/drivers.md", "tests/mutate/README.md"]),
        *instructors,
    ]
