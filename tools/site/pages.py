# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The pages of the site, in their order: the only list of them.

Place: the first part of tools/site. Contract: paths are relative to the top of the tree, and each is a
Markdown file that git tracks or would track; the stages are those that the Makefile names.
"""

from dataclasses import dataclass
from pathlib import Path

from course.exercises import EXERCISES
from tools.folders import folder
from tools.stages import ONE_FILE, variable

TOP = Path(__file__).resolve().parents[2]
EXERCISE_PAGES = {f"course/exercises/{name}.md": name for name in EXERCISES}


@dataclass(frozen=True)
class Section:
    """A part of the site's table of contents."""

    title: str
    pages: list[str]


def stages() -> list[str]:
    """The stages, in the order in which they are read."""
    return [*variable("STAGES"), *ONE_FILE, *variable("OTHERS")]


def existing(pattern: str) -> list[str]:
    """The paths that fit a pattern, sorted."""
    return sorted(str(path.relative_to(TOP)) for path in TOP.glob(pattern))


def sections(notes: bool = False) -> list[Section]:
    """The table of contents, without the front page. The notes to slides and the written tests only if asked for."""
    concepts = ["primer", "adapters", "objects", "states", "nine", "glossary"]
    reference = ["verbs", "structures", "work-requests", "memory", "wc-status", "symptoms", "pitfalls", "protocol", "drivers", "reliability", "many-clients"]
    private = [page for pattern in ("written-test*.md", "slides/*-notes.md") for page in existing(f"course/{pattern}")]
    instructors = [Section("For instructors", private)] if notes else []
    return [
        Section("Concepts", ["docs/README.md", *(f"docs/{name}.md" for name in concepts)]),
        Section("Stages", [*(f"{folder(stage)}/README.md" for stage in stages()), "beyond/README.md"]),
        Section("Scenes", [*existing("docs/scenes/*.md"), "docs/left-out.md"]),
        Section("Labs", existing("course/README.md") + existing("course/labs/lab-*.md") + ["course/practice.md", "course/mine/README.md", "course/teaching.md", "course/grading.md", "course/slides/README.md"]),
        Section("Exercises and bug labs", ["course/exercises/README.md", *EXERCISE_PAGES, "course/bugs/README.md"]),
        Section("Reference", [f"docs/{name}.md" for name in reference]),
        Section(
            "Tools and machines",
            ["examples/README.md", "docs/libraries.md", "docs/your-machines.md", "docs/anywhere.md", "docs/containers.md", "docs/clouds.md", "docs/testing.md", "lab/README.md", "tools/verbs-sim/README.md", "tools/devices/README.md", "bench/README.md"]
            + [f"bench/{name}.md" for name in ("law", "published", "results", "compare")]
            + ["ways/README.md", "ways/shared.md"]
            + ["tools/README.md", "tools/site/README.md", "tools/packaging/README.md", "tools/capture/README.md", "tools/verbs-trace/README.md", "tools/verbs-trace/json.md"],
        ),
        Section("Behind it", ["CONTRIBUTING.md", "CHANGELOG.md", "docs/course-map.md", "tests/README.md", "tests/evidence.md", "tests/drivers.md"]),
        *instructors,
    ]
