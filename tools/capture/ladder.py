# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Draws a conversation as a ladder: the client to the left, the server to the right, an arrow a packet.

Place: the last step of tools/capture. Contract: lines() says the packets in their order; packets in the midst of
one message are drawn as one arrow, unless all are wanted.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

WIDTH = 84
PAUSE_S = 0.5  # a silence as long as this is worth a line


@dataclass
class Step:
    """A packet, or a part of one, in words."""

    seconds: float
    from_client: bool
    text: str
    details: list[str] = field(default_factory=list)
    remark: str = ""  # a line before it
    inside: str = ""  # if it is a part of a message: of which kind; the parts may be drawn as one
    place: str = ""  # the part: "First"
    number: str = ""  # the part's own: "PSN 4"
    begins: bool = False  # the first part of a message
    ends: bool = False  # the last
    minor: bool = False  # left out unless all are wanted


def _arrow(step: Step, text: str) -> str:
    room = WIDTH - len(text) - 1
    if step.from_client:
        return f"{text} {'-' * max(room - 1, 2)}>"
    return f"<{'-' * max(room - 1, 2)} {text}"


def _below(step: Step, detail: str) -> str:
    if step.from_client:
        return f"    {detail}"
    return detail.rjust(WIDTH)


def _goes_on(before: Step, step: Step) -> bool:
    """Returns whether it is the next part of the same message."""
    same = before.inside and before.inside == step.inside and before.from_client == step.from_client
    return bool(same) and not (before.ends or step.begins or step.remark)


def _groups(steps: list[Step], everything: bool) -> Iterator[list[Step]]:
    """Steps that are drawn as one."""
    group: list[Step] = []
    for step in steps:
        if group and (everything or not _goes_on(group[-1], step)):
            yield group
            group = []
        group.append(step)
    if group:
        yield group


def _text(group: list[Step]) -> str:
    """Returns the text for steps that are drawn as one."""
    first, last = group[0], group[-1]
    if first is last:
        return first.text
    of = f"{first.inside} {first.place} to {last.place}" if first.place else f"{first.inside}"
    numbers = f", {first.number} to {last.number.split()[-1]}" if first.number else ""
    return f"{of}, {len(group)} parts{numbers}"


def lines(steps: list[Step], everything: bool = False) -> Iterator[str]:
    """The ladder, line by line."""
    shown = [step for step in steps if everything or not step.minor]
    before = begin = shown[0].seconds if shown else 0.0
    for group in _groups(shown, everything):
        first, last = group[0], group[-1]
        if first.seconds - before >= PAUSE_S:
            yield " " * 10 + f"... {first.seconds - before:.1f} s without a packet ...".center(WIDTH).rstrip()
        if first.remark:
            yield " " * 10 + first.remark.center(WIDTH).rstrip()
        yield f"{first.seconds - begin:9.6f} {_arrow(first, _text(group))}"
        for detail in first.details:
            yield " " * 10 + _below(first, detail)
        before = last.seconds
