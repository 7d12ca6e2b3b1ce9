# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Compares the tables of new verbs in the READMEs of the stages with the verbs that a stage called.

Place: used by sim/test_traced.py for each stage. Contract: differences() describes each difference. Verbs
that a run of some messages cannot show must be in NOT_IN_A_RUN, with the reason.
"""

import re

from tools.folders import folder
from tools.stages import before
from tracing import TOP

VERB = re.compile(r"\b(?:rdma|ibv)_[a-z0-9_]+\b")
TABLE = re.compile(r"^## (?:What is new|The new verbs)\n(.*?)(?=^## )", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\|.*", re.MULTILINE)
# A macro of the headers, and the function that it calls.
MACROS = {"ibv_reg_mr_iova2": "ibv_reg_mr", "_ibv_query_gid_table": "ibv_query_gid_table"}
STRUCTURES = {"rdma_conn_param"}
# These functions only turn a value into a name: see tests/traced.
NAMES = {"ibv_get_device_name", "rdma_event_str"}
ERRORS, INLINE, UNASKED = "called after an error", "inline, in rdma_cma.h", "the device has to say something unasked"
NOT_IN_A_RUN = {
    "ping-sr-0": {
        "ibv_query_device": ERRORS,
        "ibv_query_qp": ERRORS,
        "rdma_get_local_addr": INLINE,
        "rdma_get_peer_addr": INLINE,
        "rdma_reject": "a client has to be refused",
        "rdma_set_option": "a server without -a",
    },
    "ping-sr-1": {"rdma_reject": "a client has to be refused"},
    "ping-sr-2": {"ibv_get_async_event": UNASKED, "ibv_ack_async_event": UNASKED},
    "ping-srq-4": {"ibv_get_async_event": UNASKED, "ibv_ack_async_event": UNASKED},
}


def named(stage: str) -> set[str]:
    """The verbs in the stage's table of what is new; none if it has no such table."""
    text = (TOP / folder(stage) / "README.md").read_text()
    if stage == "ping-ep-0":  # its whole README is about other functions
        return set(VERB.findall(text))
    section = TABLE.search(text)
    return set(VERB.findall("\n".join(ROW.findall(section[1])))) - STRUCTURES if section else set()


def differences(stage: str, called: set[str]) -> list[str]:
    """Returns the differences from the tables, given all verbs that the stage's client and server have called."""
    called = {MACROS.get(verb, verb) for verb in called}
    excused = NOT_IN_A_RUN.get(stage, {})
    told, known = named(stage), set[str]()
    at = stage
    while at:
        known |= named(at)
        at = before(at)
    wrong = [f"{verb} is called, and in no table up to {stage}'s" for verb in sorted(called - known - NAMES)]
    if stage != "ping-ep-0":
        wrong += [f"{verb} is in the table, and is not called" for verb in sorted(told - called - set(excused))]
    wrong += [f"{verb} is excused, and is called, or not in the table" for verb in excused if verb in called or verb not in told]
    return wrong
