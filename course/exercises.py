# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The table of the exercises: which stage, which file the student writes, and what is cut out of it.

Place: read by make.py and grade.py. Contract: a solution is the stage's own source, which is compiled and
tested with it; here are names of its functions only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Exercise:
    """What is asked for."""

    name: str
    stage: str  # whose parts make the programs
    file: str  # what the student writes
    removed: tuple[str, ...]  # functions that go: helpers of the solution
    emptied: tuple[str, ...]  # functions whose body the student writes
    words: dict[str, str] = field(default_factory=dict)  # what an empty function returns, if not ENOSYS

    @property
    def task(self) -> Path:
        """The task in words."""
        return TOP / "course/exercises" / f"{self.name}.md"


EXERCISES = {
    exercise.name: exercise
    for exercise in (
        Exercise(
            "ping-sr-2e",
            "ping-sr-2e",
            "ping-sr-2e/cm_events.c",
            ("await_channel", "take_event", "await_next_event"),
            (
                "our_create_event_channel",
                "our_destroy_event_channel",
                "our_await_cm_event",
                "our_migrate_id",
                "our_await_disconnect",
                "our_cm_end",
            ),
        ),
        Exercise("signaling", "blast-sr-2", "blast-sr-2/chains.c", (), ("signal_some",)),
        Exercise(
            "verify",
            "ping-sr-0",
            "ping-sr-0/user_data.c",
            ("compare",),
            ("our_find_difference", "our_verify_data"),
            {"our_find_difference": "control->data_size", "our_verify_data": "0"},
        ),
    )
}
