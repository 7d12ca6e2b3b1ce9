# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The lifetimes of a process's objects, and the states of its queue pairs.

Place: part of picture.py. Contract: an object exists from the call that made it to the call that destroyed it, or to
the end of the trace. States that librdmacm sets for the program are in the trace only with -n.
"""

import re
from dataclasses import dataclass, field

from records import Call, Process

KINDS = ("id", "event_channel", "pd", "comp_channel", "cq", "srq", "qp", "mr", "mw", "ah")
NAME = re.compile(rf"({'|'.join(KINDS)})(\d+)")
LIBRARYS = ("id", "event_channel", "pd")  # librdmacm has some that concern nobody else
ENDS = re.compile(r"destroy|dealloc|dereg")


@dataclass
class Life:
    """The lifetime of an object."""

    name: str
    made: Call
    ended: Call | None = None
    states: list[tuple[int, str]] = field(default_factory=list)  # the time and the state of each
    errors: list[int] = field(default_factory=list)  # completions in error, except flushed ones
    own: bool = False  # the program's, not one that a library made for itself

    @property
    def order(self) -> tuple[int, int]:
        """Sorts by kind, then by number."""
        match = NAME.fullmatch(self.name)
        assert match
        return KINDS.index(match[1]), int(match[2])


def _made_by(call: Call) -> list[str]:
    names = [call.result] if "pointer" in call.returned else []
    names += [call.args.get(k.removesuffix("_pointer")) for k in call.args if k.endswith("_pointer")]
    if call.name in ("rdma_create_qp", "rdma_create_qp_ex"):
        names.append(call.args.get("qp"))
    return [n for n in names if isinstance(n, str) and NAME.fullmatch(n)]


def lives(process: Process) -> list[Life]:
    """Returns all lifetimes of a process, by kind."""
    found: dict[str, Life] = {}
    qp_of_id: dict[str, str] = {}
    for call in sorted(process.calls, key=lambda c: c.end):
        if call.error or call.unfinished:
            continue
        for name in _made_by(call):
            life = found.setdefault(name, Life(name, call))
            life.own |= call.depth == 0 or not name.startswith(LIBRARYS)
        if call.name == "rdma_create_qp" and isinstance(call.args.get("qp"), str):
            qp_of_id[str(call.args.get("id"))] = call.args["qp"]
        if ENDS.search(call.name) and call.args:
            name = str(next(iter(call.args.values())))
            if call.name in ("rdma_destroy_qp", "rdma_destroy_ep") and name in qp_of_id:
                _end(found, qp_of_id.pop(name), call)
            if call.name != "rdma_destroy_qp":
                _end(found, name, call)
        _see_qp(found, call)
    return sorted((life for life in found.values() if life.own), key=lambda life: life.order)


def _end(found: dict[str, Life], name: str, call: Call) -> None:
    if name in found and not found[name].ended:
        found[name].ended = call


def _see_qp(found: dict[str, Life], call: Call) -> None:
    """Notes a state that is set, or a completion in error."""
    if call.name == "ibv_modify_qp" and isinstance(call.args.get("attr"), dict):
        life, state = found.get(str(call.args.get("qp"))), call.args["attr"].get("state")
        if life and isinstance(state, str) and (not life.states or life.states[-1][1] != state):
            life.states.append((call.end, state))
    found_there = call.args.get("wc", call.args.get("completion"))
    for wc in found_there if isinstance(found_there, list) else []:
        failed = isinstance(wc, dict) and wc.get("status") not in ("SUCCESS", "WR_FLUSH_ERR", None)
        if failed and str(wc.get("qp")) in found:
            found[str(wc["qp"])].errors.append(call.end)
