# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Which hosts are measured together, and when: a round-robin tournament by the circle method.

Place: below tournament.py. Contract: each pair of hosts meets once in a round. No host is in two pairs of one step, so
all pairs of a step can be measured at the same time. A round of n hosts has n - 1 steps, or n if n is odd.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def roles(one: int, other: int) -> tuple[int, int]:
    """Client and server of a pair, so that each host has both roles equally often (with one more, if the number is
    odd)."""
    low, high = sorted((one, other))
    return (low, high) if (high - low) % 2 else (high, low)


def steps(players: Sequence[T]) -> list[list[tuple[T, T]]]:
    """The pairs of each step; the first of a pair is the client. The host in the first seat stays there, all others
    move on by one seat, and those in opposite seats meet. The host opposite the empty seat has a rest."""
    seats = list(range(len(players) + len(players) % 2))
    found = []
    for _ in range(len(seats) - 1):
        opposite = zip(seats[: len(seats) // 2], reversed(seats[len(seats) // 2 :]))
        pairs = [roles(*pair) for pair in opposite if max(pair) < len(players)]
        found.append([(players[client], players[server]) for client, server in pairs])
        seats = [seats[0], seats[-1], *seats[1:-1]]
    return found


def rounds(players: Sequence[T], number: int, both_ways: bool) -> list[list[tuple[T, T]]]:
    """The steps of one round; rounds are counted from 1. With both_ways each pair meets a second time in it, with
    exchanged roles."""
    once = steps(players)
    there = once if number % 2 else once[::-1]  # so that a drift of the whole fabric does not favour the last pairs
    return there + [[(server, client) for client, server in step] for step in there] if both_ways else there
