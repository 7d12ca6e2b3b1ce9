# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Which stage has rows of which file of tests/live: a cell without any has a reason, or a row is missing.

    python3 -m pytest -s tests/house/test_matrix.py    # prints the matrix
"""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from live.table import STAGES

TOP = Path(__file__).resolve().parents[2]
NAMES = [stage.name for stage in STAGES if not stage.nine]
# What is about a few stages, or about no stage at all.
OF_SOME = {
    "bare": "ping-rc-0",
    "ep": "ping-ep-0",
    "idle": "ping-sr-3 ping-sr-4 ping-sr-5 ping-srq-4 ping-ep-0 ping-rdma-1 ping-rdma-2 blast-rdma-1 count-atomic-1"
    " pubsub-rdma-1 pubsub-rdma-2",  # the others poll, or nap
    "pools": "ping-srq-4",
    "pubsub": "pubsub-rdma-1 pubsub-rdma-2",
    "streams": "blast-sr-2",
    "talk": "talk-rdma-0",
    "examples": "",
    "others": "",
    "primer": "",
    "ways": "",
}
# These have rows of these kinds in files of their own: other options, other output, or no count of messages.
OF_ITS_OWN = "ping-ep-0 pubsub-rdma-1 pubsub-rdma-2 talk-rdma-0"
NO_DATA = "ping-sr-0 ping-rc-0"  # tell each other nothing when they connect
ONE_SIDED = "ping-rdma-1 ping-rdma-2 ping-rdma-3 blast-rdma-1 count-atomic-1"
LADDER = "ping-sr-0 ping-sr-1 ping-sr-2e ping-sr-2 ping-sr-3 ping-sr-4 ping-sr-5 blast-sr-2"
# file: the stages that need no row of it: why
REASONS = {
    "bad_clients": {
        "blast-sr-2": "test_odd_peers.py has one that leaves early, and one that is silent",
        "ping-srq-4": "test_pools.py has its bad clients",
        "ping-rc-0": "test_bare.py has its bad clients",
        ONE_SIDED: "test_rights.py has their bad clients",
    },
    "crowds": {
        "ping-sr-0 ping-sr-1 ping-sr-2e ping-rc-0": "they serve one client at a time",
        ONE_SIDED: "they serve clients one after the other",
    },
    "mistakes": {"count-atomic-1": "the main is that of the others, and its words have one size"},
    "odd_peers": {"ping-rc-0": "test_bare.py has its odd peers"},
    "one_sided": {
        f"{LADDER} ping-srq-4": "no memory of theirs is open",
        "ping-rdma-1 ping-rdma-2": "all that they do is in test_transfers.py",
    },
    "output": {"blast-sr-2": "test_streams.py has its results", "count-atomic-1": "test_transfers.py reads its JSON"},
    "pairs": {"blast-rdma-1 count-atomic-1": "no other stage has their wire"},
    "refusals": {
        NO_DATA: "they refuse nobody",
        "ping-sr-2e": "the code is ping-sr-1's",
        ONE_SIDED: "the code is the ladder's",
    },
    "removal": {
        "ping-sr-0 ping-sr-1 ping-sr-2e ping-rc-0": "they do not hear of it: sim/test_stops.py has the error",
        "ping-sr-3 ping-sr-5 blast-sr-2": "they hear of it as ping-sr-2 does",
        f"ping-srq-4 {ONE_SIDED}": "they hear of it as ping-sr-4 or ping-sr-2 do",
    },
    "rights": {
        f"{LADDER} ping-srq-4 ping-rc-0": "no memory of theirs is open",
        "ping-rdma-2": "the server is ping-rdma-1's",
    },
    "strangers": {
        "ping-srq-4": "test_pools.py has its strangers",
        "ping-rc-0": "test_bare.py has its strangers",
        ONE_SIDED: "they admit clients as ping-sr-2 does; test_siege.py sends strangers to each",
    },
    "waits": {f"ping-srq-4 ping-rc-0 {ONE_SIDED}": "they wait as a stage of the ladder does: see their stage.c"},
}


def stage_of(parameters: str) -> str:
    """Named in a row's parameters; of two the longer name, and the first."""
    found = [name for name in NAMES if re.search(rf"(?:^|-){name}(?:-|$)", parameters)]
    return max(found, key=len, default="")


def count_rows() -> dict[str, Counter[str]]:
    """By file and stage, as pytest finds them."""
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-m", "", "tests/live"]
    said = subprocess.run(command, cwd=TOP, check=True, capture_output=True, text=True, timeout=120).stdout
    rows: dict[str, Counter[str]] = {}
    for name, parameters in re.findall(r"test_(\w+)\.py::\w+(?:\[(.*)\])?$", said, re.MULTILINE):
        rows.setdefault(name, Counter())[stage_of(parameters)] += 1
    return rows


def needs_none(name: str, stage: str) -> bool:
    """There is a reason why this file has no row for this stage."""
    if name in OF_SOME:
        return stage not in OF_SOME[name].split()
    return stage in OF_ITS_OWN.split() or any(stage in stages.split() for stages in REASONS.get(name, {}))


def test_each_stage_has_rows_of_each_kind() -> None:
    rows = count_rows()
    print("", " " * 12, *(name.replace("ping-", "").replace("rdma-", "r")[:8].rjust(8) for name in NAMES))
    for name in sorted(rows):
        print("", name.ljust(12), *(str(rows[name][stage] or "-").rjust(8) for stage in NAMES))
    empty = [(name, stage) for name in rows for stage in NAMES if not rows[name][stage]]
    assert [cell for cell in empty if not needs_none(*cell)] == []
    stale = [
        (name, stage)
        for name, reasons in REASONS.items()
        for stages in reasons
        for stage in stages.split()
        if (name, stage) not in empty
    ]
    assert not stale, "a reason for no row where there is one, or no such stage"
