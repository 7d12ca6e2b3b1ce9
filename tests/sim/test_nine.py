# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The nine combinations of docs/nine.md: what each says of itself, and what follows from its two parts.

Contract: `make nine` has built all of them, also those that are a stage.
"""

from __future__ import annotations

import json
import subprocess

import pytest
from live.table import STAGES, Stage
from sim.simulation import TOP, pair, simulate

each = pytest.mark.parametrize("stage", [stage for stage in STAGES if stage.nine], ids=str)
CM = {"none": "synchronous CM calls", "channel": "an event channel, and a thread that reads it", "nonblocking": "an event channel that does not block"}
COMPLETIONS = {"none": "busy polling", "channel": "completion channel", "nonblocking": "completion channel that does not block"}


@each
def test_it_says_which_parts_it_has(stage: Stage) -> None:
    cm, completions = stage.name.split("-")
    for role in ("client", "server"):
        done = subprocess.run([f"{stage.folder}/{role}", "--describe"], cwd=TOP, capture_output=True, text=True, timeout=60, check=True)
        said = json.loads(done.stdout)
        due = {"stage": stage.name, "sleeps": completions != "none", "notices_death": cm != "none", "serves_many": cm == "channel"}
        assert {name: said[name] for name in due} == due
        assert (said["cm_events"], said["completions"]) == (CM[cm], COMPLETIONS[completions])


@each
@pytest.mark.parametrize("dies", ["server", "client"])
def test_its_cm_part_notices_a_peer_that_dies(stage: Stage, dies: str) -> None:
    """The other side ends at once, or after its --timeout if its CM calls are synchronous."""
    server, client = pair(stage, 20)
    run = simulate([[*server, "--timeout", "3"], [*client, "--timeout", "3"]], "--fail", f"{int(dies == 'client')}:ibv_post_send:9:SIGKILL")
    assert sorted(run.statuses) == ([0, 137] if dies == "client" else [1, 137]), run.why()
    assert (run.ms > 3000, "said nothing for 3 s" in run.err) == (not stage.notices_death,) * 2, run.why()


@each
def test_one_with_an_event_thread_serves_clients_at_the_same_time(stage: Stage) -> None:
    """Each client takes two seconds, and waits for one. A server without the thread takes only the first."""
    together = 2 if stage.name.startswith("channel") else 1
    server, client = pair(stage, 20)
    run = simulate([[*server, "-n", str(together)], *[[*client, "--rate", "10", "-w", "1"]] * 2])
    assert run.statuses[0] == 0 and run.statuses[1:].count(0) == together, run.why()
