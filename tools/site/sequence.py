# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The verbs of a run of ping-sr-0, in order, and where each is called: the table of its README.

Place: fill.py asks for the table; tests/live/test_trace.py compares the order with a real run. Contract: a call that is
not where this says is an error.
"""

import os
import re
from dataclasses import dataclass

from .sources import NotThere, function

README = "ping-sr-0"
NOT_ON_IWARP = ("our_setup_rnr_timer", "our_transport_name")
# Side, verbs, and the function that calls them. The sides run at the same time, and wait for each other where they connect.
RUN = """
listener  rdma_create_id                        common/connection.c             our_create_id
listener  rdma_bind_addr rdma_listen            common/connection.c             bind_and_listen
listener  ibv_query_port                        program/serve/device_check.c            our_check_data_size
client    rdma_create_id                        common/connection.c             our_create_id
client    rdma_resolve_addr                     common/connection.c             resolve_addr
client    rdma_resolve_route                    common/connection.c             resolve_route
client    ibv_query_port                        program/serve/device_check.c            our_check_data_size
client    ibv_alloc_pd                          common/qp.c                     our_alloc_pd
client    ibv_create_cq                         common/qp.c                     our_make_cq
client    rdma_create_qp                        common/qp.c                     our_cm_make_qp
client    ibv_reg_mr                            common/memory.c                 our_register
client    ibv_post_recv                         common/transfer.c               our_post_recvs
client    rdma_connect                          common/connection.c             start_connect
listener  rdma_get_request                      ping-sr-0/cm_events.c           await_connect_request
agent     ibv_query_port                        program/serve/device_check.c            our_check_data_size
agent     rdma_migrate_id                       ping-sr-0/cm_events.c           migrate
agent     ibv_alloc_pd                          common/qp.c                     our_alloc_pd
agent     ibv_create_cq                         common/qp.c                     our_make_cq
agent     rdma_create_qp                        common/qp.c                     our_cm_make_qp
agent     ibv_reg_mr                            common/memory.c                 our_register
agent     ibv_post_recv                         common/transfer.c               our_post_recvs
agent     rdma_accept                           common/connection.c             accept_client
agent     ibv_modify_qp                         common/qp.c                     our_setup_rnr_timer
client    ibv_modify_qp                         common/qp.c                     our_setup_rnr_timer
client    ibv_post_send                         common/transfer.c               post_list
agent     ibv_poll_cq                           common/transfer.c               our_poll_cq
agent     ibv_post_recv                         common/transfer.c               our_post_recvs
agent     ibv_post_send                         common/transfer.c               post_list
client    ibv_poll_cq                           common/transfer.c               our_poll_cq
client    ibv_post_recv                         common/transfer.c               our_post_recvs
client    ibv_query_port                        common/device.c                 our_transport_name
client    rdma_disconnect                       common/connection.c             our_disconnect
agent     rdma_get_cm_event rdma_ack_cm_event   ping-sr-0/cm_events.c           take_event
agent     ibv_poll_cq                           program/serve/agent.c                     our_check_for_more
agent     ibv_query_port                        common/device.c                 our_transport_name
agent     rdma_disconnect                       common/connection.c             our_disconnect
client    rdma_destroy_qp                       common/qp.c                     our_cm_destroy_qp
client    ibv_dereg_mr                          common/memory.c                 our_unsetup_mr
client    ibv_destroy_cq                        common/qp.c                     our_free_cq
client    ibv_dealloc_pd                        common/qp.c                     our_dealloc_pd
client    rdma_destroy_id                       common/connection.c             destroy_id
agent     rdma_destroy_qp                       common/qp.c                     our_cm_destroy_qp
agent     ibv_dereg_mr                          common/memory.c                 our_unsetup_mr
agent     ibv_destroy_cq                        common/qp.c                     our_free_cq
agent     ibv_dealloc_pd                        common/qp.c                     our_dealloc_pd
agent     rdma_destroy_id                       common/connection.c             destroy_id
listener  rdma_destroy_id                       common/connection.c             destroy_id
"""


@dataclass(frozen=True)
class Call:
    """A call of a verb: by which side, and in which function of which file."""

    side: str
    verb: str
    path: str
    function: str

    def check(self) -> None:
        """Raises NotThere, unless the function has the call."""
        body = function(self.path, self.function)
        if not re.search(rf"^(?!\s*(?:/\*|\* )).*\b{self.verb}\(", body, re.MULTILINE):
            raise NotThere(f"{self.function} in {self.path} does not call {self.verb}")


def calls() -> list[Call]:
    """All of them."""
    rows = [line.split() for line in RUN.strip().splitlines()]
    return [Call(side, verb, path, name) for side, *verbs, path, name in rows for verb in verbs]


def table() -> str:
    """A row for each call."""
    rows = ["| side | verb | where |", "|---|---|---|"]
    for call in calls():
        note = " (not on iWARP)" if call.function in NOT_ON_IWARP else ""
        call.check()
        link = f"[{call.path}]({os.path.relpath(call.path, README)})"
        rows.append(f"| {call.side} | `{call.verb}`{note} | {link}, `{call.function}` |")
    return "\n".join(rows) + "\n"
