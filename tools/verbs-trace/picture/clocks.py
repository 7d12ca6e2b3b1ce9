# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Converts the times of several traces to one clock, that of the first trace.

Place: part of picture.py. Contract: traces of the same clock (boot_id) differ by what their first lines say. Others
are matched by messages, none of which can have arrived before it was sent. Messages in both directions leave an
interval for the difference. Its middle is used, which assumes that the fastest message takes as long in either
direction. If the interval is empty, one clock is faster than the other, and the rate that fits best is used.
"""

from dataclasses import dataclass

MOST_DRIFT = 1e-3  # crystals drift by less than 1e-4
STEPS = 60


@dataclass(frozen=True)
class Crossing:
    """A message from one trace to another: the sender's time before it, the receiver's after it."""

    sender: int
    receiver: int
    sent: int
    received: int


@dataclass(frozen=True)
class Clock:
    """The time on the first trace's clock is time + offset + rate * time."""

    offset: float = 0.0
    rate: float = 0.0
    known_to: float | None = 0.0  # uncertainty: half of the interval; None: nothing is known
    messages: int = 0

    def of(self, time: float) -> int:
        """Converts a time of this trace to the first trace's clock."""
        return round(time + self.offset + self.rate * time)


Bound = tuple[float, float]  # a time on the second clock, and the least, or the largest, difference then


def _interval(rate: float, least: list[Bound], most: list[Bound]) -> tuple[float, float]:
    """Returns the interval of the difference at time 0."""
    return max(x - rate * t for t, x in least), min(x - rate * t for t, x in most)


def fit(least: list[Bound], most: list[Bound]) -> Clock:
    """Fits a clock to the least, and the largest, differences between two clocks at several times."""
    number = len(least) + len(most)
    if not least and not most:
        return Clock(known_to=None)
    if not least or not most:
        edge = max(x for _, x in least) if least else min(x for _, x in most)
        return Clock(edge, 0.0, None, number)
    low, high = _interval(0.0, least, most)
    rate = 0.0
    if low > high:  # the width of the interval is a concave function of the rate
        left, right = -MOST_DRIFT, MOST_DRIFT
        for _ in range(STEPS):
            third = (right - left) / 3
            (a, b), (c, d) = (_interval(r, least, most) for r in (left + third, right - third))
            if b - a < d - c:
                left += third
            else:
                right -= third
        rate = (left + right) / 2
        low, high = _interval(rate, least, most)
    return Clock((low + high) / 2, rate, abs(high - low) / 2, number)


def between(first: int, second: int, crossings: list[Crossing]) -> Clock:
    """Returns the clock that converts the second trace's times to the first one's clock."""
    there = [c for c in crossings if (c.sender, c.receiver) == (first, second)]
    back = [c for c in crossings if (c.sender, c.receiver) == (second, first)]
    least = [(float(c.received), float(c.sent - c.received)) for c in there]
    most = [(float(c.sent), float(c.received - c.sent)) for c in back]
    return fit(least, most)


def _through(near: Clock, far: Clock) -> Clock:
    """Returns the clock from a trace to the first one, by way of another trace."""
    unknown = near.known_to is None or far.known_to is None
    return Clock(
        near.offset * (1 + far.rate) + far.offset,
        (1 + near.rate) * (1 + far.rate) - 1,
        None if unknown else (near.known_to or 0.0) + (far.known_to or 0.0),
        near.messages,
    )


def match(starts: list[tuple[str, int | None]], crossings: list[Crossing]) -> list[Clock]:
    """Returns the clock of each trace. `starts` has for each the clock that it used, and its beginning on that clock."""
    clocks: dict[int, Clock] = {0: Clock()}
    waiting = [0]
    while waiting:
        known = waiting.pop(0)
        for other in range(len(starts)):
            if other in clocks:
                continue
            (boot, begin), (other_boot, other_begin) = starts[known], starts[other]
            if boot and boot == other_boot and begin is not None and other_begin is not None:
                step = Clock(float(other_begin - begin))
            else:
                step = between(known, other, crossings)
                if not step.messages:
                    continue
            clocks[other] = _through(step, clocks[known])
            waiting.append(other)
    return [clocks.get(number, Clock(known_to=None)) for number in range(len(starts))]
