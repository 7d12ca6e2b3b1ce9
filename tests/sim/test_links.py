# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The link of a host goes down in mid-run: both programs end. What they say is in transcripts/devices.txt, and what the device does is tried
with tools/verbs-sim/tests/test_links.py."""

from __future__ import annotations

import pytest
from live.table import Stage
from sim.simulation import OF_ITS_OWN, SIDES, each_stage_once
from sim.test_stops import stops

AT = 4  # calls of a side, spread over all


@pytest.mark.parametrize("how", ["PORT_DOWN=30s", "GID_MOVE"])
@pytest.mark.parametrize("side", [0, 1], ids=SIDES)
@each_stage_once
def test_it_ends_whatever_its_link_does(stage: Stage, transport: list[str], side: int, how: str) -> None:
    for run in stops(stage, transport, side, how, AT):
        assert run.exit not in OF_ITS_OWN and {*run.statuses} <= {0, 1}, run.why()
