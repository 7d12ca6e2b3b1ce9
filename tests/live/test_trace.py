# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The output of -t: all that is set up is destroyed once, in the reverse order but the QP before memory, also after Ctrl-C."""

from __future__ import annotations

import re

from live.conftest import Pair
from live.processes import Process
from live.table import Link, Stage, each
from live.test_stops import CHECK, stages, stop, stop_if_it_runs

TRACED = re.compile(r"^[^:]+: +[\d.]+ t\d+ +((?:ibv|rdma)_\w+)\(.*", re.M)
OF_BOTH = (
    "rdma_create_id ibv_alloc_pd ibv_create_cq rdma_create_qp ibv_reg_mr rdma_disconnect "
    "ibv_dereg_mr rdma_destroy_qp ibv_destroy_cq ibv_dealloc_pd rdma_destroy_id "
)
VERBS = {
    "client": OF_BOTH + "rdma_resolve_addr rdma_resolve_route rdma_connect",
    "server": OF_BOTH + "rdma_bind_addr rdma_listen rdma_accept",
}
WITHOUT_CM = (
    "ibv_get_device_list ibv_open_device ibv_query_gid_table ibv_free_device_list ibv_alloc_pd ibv_create_cq "
    "ibv_create_qp ibv_modify_qp ibv_reg_mr ibv_dereg_mr ibv_destroy_qp ibv_destroy_cq ibv_dealloc_pd ibv_close_device"
)
QP_ENDS = {"rdma_destroy_qp", "ibv_destroy_qp"}
PAIRS = {
    "rdma_create_event_channel": "rdma_destroy_event_channel",
    "rdma_create_id": "rdma_destroy_id",
    "rdma_get_request": "rdma_destroy_id",  # a server has the client's id from here on,
    "rdma_migrate_id": "rdma_destroy_id",  # a program that waits for events reads them from here on
    "ibv_alloc_pd": "ibv_dealloc_pd",
    "ibv_create_comp_channel": "ibv_destroy_comp_channel",
    "ibv_create_cq": "ibv_destroy_cq",
    "rdma_create_qp": "rdma_destroy_qp",
    "ibv_open_device": "ibv_close_device",
    "ibv_create_qp": "ibv_destroy_qp",
    "ibv_reg_mr_iova2": "ibv_dereg_mr",  # ibv_reg_mr is a macro, which calls this
    "rdma_connect": "rdma_disconnect",  # this holds if the call waits for the answer,
    "rdma_accept": "rdma_disconnect",
    "ESTABLISHED": "rdma_disconnect",  # the disconnect may come as an event
}


def steps_of(trace: str) -> list[str]:
    """The calls that succeeded, and that event. An attempt to connect that was too early fails. A disconnect counts all the
    same if it finds no event to wait for, as the peer's came first (EAGAIN), or has waited long enough (EINTR)."""
    lines = [(found[1], found[0]) for found in TRACED.finditer(trace)]
    by_event = any(verb == "rdma_create_event_channel" for verb, _ in lines)
    steps = []
    for verb, line in lines:
        if " = -1 " in line and not (verb == "rdma_disconnect" and re.search(" = -1 (EAGAIN|EINTR) ", line)):
            continue
        if verb == "rdma_get_cm_event" and "{ESTABLISHED, " in line:
            verb = "ESTABLISHED"
        if not (by_event and verb in ("rdma_connect", "rdma_accept")):
            steps.append(verb)
    return steps


def undone(stage: Stage, steps: list[str]) -> list[str]:
    """Undoes step by step what was done. Returns the tear-downs that did not come."""
    due: list[str] = []
    for step in steps:
        if step in PAIRS:
            due.append(PAIRS[step])
        elif step == "rdma_listen" and stage.loop:
            due.append("rdma_destroy_id")  # one more id is destroyed, for the one client of this run
        elif step == "rdma_disconnect" and due[-1:] != [step]:
            pass  # the thread that reads the peer's disconnect event calls it, too
        elif step in QP_ENDS or (step == "ibv_dereg_mr" and stage.one_sided):
            # A receive is posted, so the QP goes before the memory. Who opens memory to its peer deregisters that before
            # all else: more may be set up after it.
            later = due[len(due) - due[::-1].index(step) :]
            assert step not in QP_ENDS or {*later} <= {"ibv_dereg_mr"}, f"{step} comes too early"
            del due[len(due) - 1 - len(later)]
        elif step == "ibv_dereg_mr":
            assert due.pop() == step and not QP_ENDS & {*due}, "memory is deregistered before its QP has gone"
        elif step in PAIRS.values():
            assert due and due.pop() == step, f"{step} comes too early"
    return due


def in_pairs(program: Process, stage: Stage) -> None:
    """Checks the whole trace of a program, which has each verb of its role."""
    wanted = WITHOUT_CM if stage.name == "ping-rc-0" else VERBS[program.argv[0].rpartition("/")[2]]
    assert not [verb for verb in wanted.split() if verb not in program.err]
    steps = steps_of(program.err)
    assert len(steps) >= len(wanted.split()) and not undone(stage, steps)


@each(lambda stage: stages(stage) and not stage.nine, check=CHECK)
def test_verbs_come_in_pairs(pair: Pair, stage: Stage) -> None:
    s, c = pair("-c 20", "-t", "-t")
    c.ends(0)
    s.ends(0)
    in_pairs(c, stage)
    in_pairs(s, stage)


@each(lambda stage: stages(stage) and not stage.nine, check=CHECK)
def test_and_after_an_interruption_too(pair: Pair, stage: Stage, link: Link) -> None:
    s, c = pair.endless("-t")
    stop(c, stage, link).ends(0)
    stop_if_it_runs(s, stage, link)
    in_pairs(c, stage)
    in_pairs(s, stage)
