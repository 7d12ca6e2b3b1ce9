# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Clients that come when a server has had enough; and what a side of talk-rdma-0 tells its user of the other one."""

from __future__ import annotations

from typing import Any

import pytest
from sim.simulation import ROWS, pair, simulate
from live.table import Stage, each

TOO_LATE = ("refused us", "nobody listens on")
SEEDS = range(1, 7)
NO_MORE = "the other side has no more to say; Ctrl-D ends this one"


def takes_n(row: Any) -> bool:
    """Returns whether its server ends after so many clients."""
    stage: Stage = row.values[0]
    return stage.negotiates and stage.name != "talk-rdma-0"


@pytest.mark.parametrize("quiet", ["", "-q"])
@pytest.mark.parametrize("silent", ["server", "client"])
@each("talk-rdma-0")
def test_who_still_talks_hears_that_the_other_has_no_more_to_say(server: Any, client: Any, silent: str, quiet: str) -> None:
    """Once; the other, which hears it later, knows that it has no more to say itself."""
    lines = {"server": "", "client": ""} | {"client" if silent == "server" else "server": "a line\n" * 20}
    s = server(quiet, stdin=lines["server"])
    c = client(quiet, stdin=lines["client"]).ends(0)
    s.ends(0)
    said = {"server": s.err.count(NO_MORE), "client": c.err.count(NO_MORE)}
    assert said == {"server": 0, "client": 0} | ({} if quiet else {"client" if silent == "server" else "server": 1})


@pytest.mark.parametrize("stage, transport", [row for row in ROWS if takes_n(row)])
def test_who_comes_when_the_server_has_had_enough(stage: Stage, transport: list[str]) -> None:
    """The client is refused, also if the server ends before it has looked at the request."""
    server, client = pair(stage, 3)
    for seed in SEEDS:
        run = simulate([[*server, "-n", "1"], *[client] * 4], *transport, "--seed", str(seed))
        assert run.exit == 1 and sorted(run.statuses) == [0, 0, 1, 1, 1] and not run.told, run.why()
        assert [sum(run.err.count(words) for words in TOO_LATE), run.left] == [3, "nothing"], run.why()
