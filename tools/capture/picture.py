# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Writes the packets as JSON, for verbs-trace --html to draw between the two programs.

Place: beside ladder.py, as the other last step of tools/capture. Contract: tools/verbs-trace/json.md says what is in the file.
"""

import json
import re
from pathlib import Path
from typing import Any

from .conversation import Conversation
from .ladder import Step

WHOLE = re.compile(r"SEND (Only|Last)\b")
IWARP_SEND = re.compile(r"RDMAP SEND\b.*, last segment")
TROUBLE = re.compile(r", again\b|NAK|Terminate|TERMINATE")
ACKNOWLEDGED = re.compile(r"ACK, ")


def packet(step: Step) -> dict[str, Any]:
    """One packet, or a part of one."""
    return {
        "time_ns": round(step.seconds * 1e9),
        "from": "client" if step.from_client else "server",
        "text": step.text,
        "details": step.details + ([step.remark] if step.remark else []),
        "ends": "SEND" if WHOLE.match(step.text) or IWARP_SEND.match(step.text) else "",
        "again": bool(step.remark or TROUBLE.search(step.text)),
        "minor": step.minor or bool(ACKNOWLEDGED.match(step.text)),
    }


def write(conversation: Conversation, path: Path) -> None:
    """The whole conversation."""
    packets = [packet(step) for step in conversation.steps]
    found = {"client": conversation.client, "server": conversation.server, "packets": packets}
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
