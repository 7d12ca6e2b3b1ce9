# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Checks of the JSON of a program (-j). Its fields: bench/results.md; tests/sim/transcripts/ have them all."""

from __future__ import annotations

from typing import Any

import pytest
from live.processes import Process
from live.table import Link, Stage

WARM_UP = 100  # a tenth of the messages warm up, but not more than this
Result = dict[str, Any]
ROLES = {"client": "client", "server": "agent"}


def of(process: Process, stage: Stage, link: Link, size: int = 64, index: int | None = None) -> Result:
    """The only result that a program has printed, or that with an index, whose fields fit each other and the test."""
    result: Result = process.json[index or 0]
    assert index is not None or len(process.json) == 1
    role = process.argv[0].rpartition("/")[2]
    port = process.argv[process.argv.index("-p") + 1]
    address = f"[{link.address}]:{port}" if link.family == 6 else f"{link.address}:{port}"
    assert (result["schema"], result["program"], result["role"]) == (1, stage.name, ROLES[role])
    assert (result["device"], result["transport"], result["size"]) == (link.device, link.transport, size)
    assert result["peer_address" if role == "client" else "local_address"] == address
    agrees(result)
    return result


def agrees(result: Result) -> None:
    """These figures are made of each other."""
    rate = result["count"] / result["seconds"] if result["seconds"] else result["messages_per_second"]
    assert result["messages_per_second"] == pytest.approx(rate, rel=1e-3, abs=1e-3)
    assert result["bytes_per_second"] == pytest.approx(rate * result["size"], rel=1e-3, abs=1e-3)
    if spread := result["round_trip_us"]:
        rising = [spread[name] for name in ("min", "p50", "p90", "p99", "p99_9", "max")]
        assert rising == sorted(rising)
        assert spread["min"] - 0.001 <= spread["mean"] <= spread["max"] + 0.001  # each figure is rounded for itself
    cq = result["cq"]
    assert cq["polls"] >= cq["empty_polls"] and cq["sleeps"] >= cq["empty_wake_ups"]
    if cq["polls"]:
        assert cq["completions_per_poll"] == pytest.approx(cq["completions"] / cq["polls"], rel=1e-3, abs=1e-3)


def whole(process: Process, stage: Stage, link: Link, size: int, count: int, index: int | None = None) -> Result:
    """The result of a run that was completed, with so many messages, those of the warm-up included."""
    result = of(process, stage, link, size, index)
    is_client = process.argv[0].endswith("client")
    assert result["complete"] and result["seconds"] > 0
    if stage.one_sided and not is_client and not stage.agent_sees and not stage.one_way:
        # A server is told how many messages there were, and nothing else.
        assert result["count"] == count and result["cq"]["completions"] <= 4
        return result
    assert result["count"] + result["warm_up"] == count
    if stage.one_way:  # messages are counted when credits come, or chains are complete
        assert result["count"] > 0 and not result["round_trip_us"]
        assert stage.one_sided or 0 < result["stream"]["credit_messages"] <= count
        return result
    assert result["warm_up"] == min(count // 10, WARM_UP) and result["round_trip_us"]
    if is_client:  # completions: a send and a receive for each message, or WRITEs and READs and the two counts at the end
        of_counts = 2 if stage.one_sided else 0
        assert result["cq"]["completions"] == (stage.one_sided or 2) * result["count"] + of_counts
    return result
