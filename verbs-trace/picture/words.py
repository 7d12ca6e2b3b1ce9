# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Writes a call as text, from its JSON, as verbs-trace without -j does.

Place: part of picture.py. Contract: any JSON results in some text.
"""

import re
from typing import Any

from records import Call

# Objects, and words that need no name before them.
OBJECT = re.compile(
    r"(context|pd|mr|mw|cq|qp|srq|ah|comp_channel|event_channel|id|event|addrinfo|device_list|context_list|xrcd"
    r"|wq|rwq_table|flow|flow_action|counters|dm|td)\d+"
)
LABELLED = {"send_cq", "recv_cq", "srq", "listener"}
BARE = {"wr", "wc", "completion", "what", "opcode", "type"}


def _is_bare(name: str, value: Any) -> bool:
    if name in BARE:
        return True
    if name == "status":
        return isinstance(value, str)
    return name not in LABELLED and isinstance(value, str) and bool(OBJECT.fullmatch(value))


def _value(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, list):
        return f"[{', '.join(_value(item) for item in value)}]"
    if isinstance(value, dict) and set(value) == {"bytes", "hex"}:
        hexadecimal = str(value["hex"])
        cut = isinstance(value["bytes"], int) and len(hexadecimal) < 2 * value["bytes"]
        count = "1 byte" if value["bytes"] == 1 else f"{value['bytes']} bytes"
        return f"({count}) {hexadecimal}{'...' if cut else ''}".rstrip()
    if isinstance(value, dict):
        return f"{{{of_arguments(value)}}}"
    return str(value)


def of_arguments(items: dict[str, Any]) -> str:
    """Of a group: what is between its braces."""
    parts: list[str] = []
    for name, value in items.items():
        if name == "cut" and value is True:
            parts.append("...")
        elif name.endswith("_pointer") and name.removesuffix("_pointer") in items and parts:
            parts[-1] += f" ({value})"
        elif _is_bare(name, value):
            parts.append(_value(value))
        else:
            parts.append(f"{name} {_value(value)}")
    return ", ".join(parts)


def of_call(call: Call) -> str:
    """Without its time and how long it took."""
    text = f"{call.name}({of_arguments(call.args)})"
    if call.unfinished:
        return f"{call.name}: has not returned"
    if call.times:
        return f"{text} = 0, {call.times} time{'' if call.times == 1 else 's'}"
    if call.result is not None or "pointer" in call.returned or call.error:
        text += f" = {_value(call.result)}"
    if "pointer" in call.returned:
        text += f" ({call.returned['pointer']})"
    if "qp_num" in call.returned:
        text += f", qp_num {call.returned['qp_num']}"
    return f"{text} {call.error}" if call.error else text
