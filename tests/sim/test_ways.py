# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Each word of build/ways' --completions is the way that ways/README.md describes: which calls it waits with, and for how long.

Contract: a client sends five messages, 50 ms apart, and its calls are looked at from the first one on.
"""

from __future__ import annotations

import itertools
import re

import pytest
from sim.simulation import ADDRESS, simulate

CALL = re.compile(r"^\[ *([\d.]+) us\] 1\.0 +\d+ +(?:(?:= (EAGAIN)|(\w+)).*|= clock.*)$", re.MULTILINE)
LETTERS = {"ibv_poll_cq": "p", "sched_yield": "y", "sleep": "s", "poll": "w", "ibv_get_cq_event": "g", "READ_COMP_EVENT": "", "EAGAIN": "e"}
# The calls of each way in their order, by these letters; a call that does not wait, such as ibv_req_notify_cq, has none. "e": the
# channel had no event, and did not block.
WAYS = {
    "poll": "p+",
    "yield": "(p+y)+p+",
    "nap": "(p+s)+p+",
    "backoff": "((p+y){1,20}(p+s)*p+)+",
    "spin": "((p{10,}y)+(p*wg?)*)+p*",
    "channel": "(p+w(w?g)?)+p+",
    "nonblocking": "(?=.*e)(p+ge?w?|p+w)+p+",
    "event": "(p+(g|w))+p+",
}


def calls(way: str) -> list[tuple[float, str]]:
    """Returns the time of each call of the client, in us, and its name; the end of one that waits has none."""
    server = f"build/ways/server -q -a {ADDRESS} --completions channel".split()
    client = f"build/ways/client -q -a {ADDRESS} --completions {way} -c 5 --rate 20".split()
    run = simulate([server, client], "--trace")
    assert not run.exit, run.why()
    found = [(float(us), refused or name) for us, refused, name in CALL.findall(run.err)]
    return list(itertools.dropwhile(lambda one: one[1] != "ibv_post_send", found))


@pytest.mark.parametrize("way", WAYS)
def test_a_way_waits_with_its_calls(way: str) -> None:
    said = "".join(LETTERS.get(name, "") for _, name in calls(way))
    assert re.fullmatch(WAYS[way], said), said


def naps(way: str) -> list[int]:
    """Returns how long each sleep is, in us."""
    return [10 * round((until - us) / 10) for (us, name), (until, _) in itertools.pairwise(calls(way)) if name == "sleep"]


def test_naps_are_of_one_length() -> None:
    assert set(naps("nap")) == {50}


def test_a_backoff_naps_longer_and_longer() -> None:
    """After 20 yields, in the gap before the second message."""
    said = "".join("|" if name == "ibv_post_recv" else LETTERS.get(name, "") for _, name in calls("backoff"))
    assert said.split("|")[1].replace("p", "").startswith("y" * 20 + "s"), said
    assert naps("backoff")[:45] == [10] * 20 + [50] * 20 + [200] * 5
