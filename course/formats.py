# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The points of a submission in the forms that Gradescope and GitHub Classroom read.

Place: between course/grade.py and the files that `make grade` writes with GRADESCOPE=file and CLASSROOM=file. Contract:
makes text, and writes nothing. A submission that cannot be graded has no checks, and a reason.
"""

import base64
import json
from dataclasses import dataclass, field
from typing import Any

OF = 100  # points of an exercise


@dataclass(frozen=True)
class Outcome:
    """The report of `make grade` about a submission. `checks` has the fields of grade.Mark."""

    title: str  # the exercise and the seed
    checks: list[dict[str, Any]] = field(default_factory=list)
    reason: str = ""  # the reason why the submission cannot be graded

    @property
    def points(self) -> int:
        """The points of the submission; OF is the most."""
        return sum(check["points"] for check in self.checks)


def passed(check: dict[str, Any]) -> bool:
    """Returns whether a check has all its points."""
    return bool(check["points"] == check["of"])


def said(check: dict[str, Any]) -> str:
    """The reason why points were lost, and the command that shows it."""
    lines = [check["reason"], f"see it: {check['command']}" if check["command"] else ""]
    return "\n".join(line for line in lines if line)


def gradescope(outcome: Outcome) -> str:
    """The text of results.json: "Output Format" in Gradescope's specifications of autograders."""
    tests = [
        {
            "name": check["text"],
            "score": check["points"],
            "max_score": check["of"],
            "status": "passed" if passed(check) else "failed",
            "output": said(check),
        }
        for check in outcome.checks
    ]
    found = {
        "score": outcome.points,
        "output": outcome.reason or outcome.title,
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "visible",
        "tests": tests,
    }
    return json.dumps(found, indent=1) + "\n"


def classroom(outcome: Outcome) -> str:
    """A line for the file $GITHUB_OUTPUT with the output `result` of a step. autograding-grading-reporter takes it as the result
    of a grader: JSON, in base64."""
    tests = [
        {
            "name": check["text"],
            "status": "pass" if passed(check) else "fail",
            "score": check["points"],
            "message": said(check),
            "test_code": "",
            "filename": "",
            "line_no": 0,
            "duration": 0,
        }
        for check in outcome.checks or [{"text": outcome.title, "points": 0, "of": OF, "reason": outcome.reason, "command": ""}]
    ]
    status = "error" if outcome.reason else "pass" if outcome.points == OF else "fail"
    found = {"version": 1, "status": status, "max_score": OF, "tests": tests}
    return f"result={base64.b64encode(json.dumps(found).encode()).decode()}\n"
