# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The tables over which tests are parametrized: stages with their traits, and links.

Place: a stage says its traits itself, by --describe. Contract: `each` is the one line above a test that says for
which stages and links it runs, and which of these `make check` runs.
"""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

import pytest
from tools import folders
from tools.place import IN_GUEST, ON_DEVICE
from tools.stages import NotBuilt, facts

TOP = Path(__file__).resolve().parents[2]
OF_SERVER = {"ping-srq-4": "--pool 4 --buffer 8m"}  # options that a server needs for the largest messages here


@dataclass(frozen=True)
class Stage:
    """A folder with a server and a client. The traits are what tests ask for; see program/stage.h."""

    name: str
    notices_death: bool = True  # it ends without --timeout if its peer leaves or dies
    negotiates: bool = True  # the server learns the count and the size from its client
    serves_many: bool = False  # it serves clients at the same time
    sleeps: bool = False  # the programs sleep while they wait; the others poll
    roce_only: bool = False  # it has no connection manager, or atomic operations: it does not run over soft-iWARP
    loop: bool = False  # one loop serves all clients: the server takes their ids from events, not by rdma_get_request
    one_sided: int = 0  # completions of a message at the client, if it is written or read, not sent
    agent_sees: bool = True  # the server knows of each message
    one_way: bool = False  # nothing comes back: the server verifies, and there are no round trips
    of_server: str = ""
    nine: bool = False  # a program of build/nine: one of the nine ways to wait

    def __str__(self) -> str:
        return self.name

    @property
    def folder(self) -> str:
        """Returns the folder of its programs, from the top of the tree."""
        return f"build/nine/{self.name}" if self.nine else folders.folder(self.name)


def _stages() -> Iterator[Stage]:
    """Returns the stages that describe themselves; the one that is a single file; and the nine, which differ only in how they wait."""
    traits = {field.name for field in fields(Stage)}
    try:
        for name, said in facts().items():
            known = {trait: value for trait, value in said.items() if trait in traits}
            yield Stage(name, of_server=OF_SERVER.get(name, ""), **known)
    except NotBuilt as error:
        pytest.exit(str(error), returncode=4)
    yield Stage("ping-ep-0", negotiates=False)
    for cm, completions in itertools.product(("none", "channel", "nonblocking"), repeat=2):
        yield Stage(f"{cm}-{completions}", nine=True, notices_death=cm != "none")


STAGES = tuple(_stages())


@dataclass(frozen=True)
class Link:
    """An RDMA device of this machine, with one of its addresses."""

    transport: str  # the name in the programs' results
    family: int  # the family of addresses: 4 or 6
    device: str
    netdev: str
    address: str

    def __str__(self) -> str:
        return f"{self.transport}{'6' if self.family == 6 else ''}"


# Variables that lab/README.md describes.
LAB = (
    Link("RoCE", 4, "rxe0", "roce0", "192.0.2.1"),
    Link("iWARP", 4, "siw0", "iwarp0", "198.51.100.1"),
    Link("RoCE", 6, "rxe0", "roce0", "2001:db8:1::1"),
    Link("iWARP", 6, "siw0", "iwarp0", "2001:db8:2::1"),
)


def _link_of(address: str) -> Link:
    """Returns the link of this machine that has the address."""
    for device in Path("/sys/class/infiniband").glob("*"):
        netdev = (device / "ports/1/gid_attrs/ndevs/0").read_text().strip()
        shown = subprocess.run(["ip", "-o", "addr", "show", "dev", netdev], capture_output=True, text=True, check=True)
        if f" {address}/" in shown.stdout:
            ethernet = (device / "ports/1/link_layer").read_text().startswith("Ethernet")
            iwarp = "RNIC" in (device / "node_type").read_text()
            transport = "iWARP" if iwarp else "RoCE" if ethernet else "InfiniBand"
            return Link(transport, 6 if ":" in address else 4, device.name, netdev, address)
    raise pytest.UsageError(f"no RDMA device of this machine has the address {address} (RDMA_ADDR)")


def _links() -> tuple[Link, ...]:
    if ON_DEVICE:
        return (_link_of(os.environ["RDMA_ADDR"]),)
    kinds = {"RoCE": "LAB_ROCE_ADDR", "iWARP": "LAB_IWARP_ADDR"}  # lab/run --roce has only one
    return tuple(link for link in LAB if not IN_GUEST or kinds[link.transport] in os.environ)


LINKS = _links()
NEVER: Mapping[str, str] = {}
Choice = Callable[[Stage, Link], bool]


def each(
    stages: str | Callable[[Stage], bool],
    check: Mapping[str, str] | Choice | None = None,
    links: Callable[[Link], bool] = lambda link: link.family == 4,
    where: Choice = lambda stage, link: True,
    fragile: Choice = lambda stage, link: False,
) -> pytest.MarkDecorator:
    """Runs a test for each of the stages, over each of the links, `where` both together allow it. `stages`: names, or a
    condition. `check`: which of them `make check` runs, as names by transport, {"RoCE": "ping-sr-2 ping-sr-4"}, or as a
    condition of stage and link; the others are marked long. Without it all are run. `fragile`: which of them may end
    the machine, and are run only by name."""
    if isinstance(stages, str):
        unknown = set(stages.split()) - {stage.name for stage in STAGES}
        assert not unknown, f"not in STAGES: {unknown}"
    rows = []
    for link in filter(links, LINKS):
        for stage in STAGES:
            wanted = stage.name in stages.split() if isinstance(stages, str) else stages(stage)
            if not wanted or (stage.roce_only and link.transport == "iWARP") or not where(stage, link):
                continue
            if isinstance(check, Mapping):
                short = stage.name in check.get(link.transport, "").split()
            else:
                short = check is None or check(stage, link)
            marks = [] if short else [pytest.mark.long]
            marks += [pytest.mark.by_name] if fragile(stage, link) else []
            rows.append(pytest.param(stage, link, id=f"{stage}-{link}", marks=marks))
    return pytest.mark.parametrize("stage, link", rows)


def over(check: str = "RoCE iWARP", links: Callable[[Link], bool] = lambda link: link.family == 4) -> pytest.MarkDecorator:
    """Runs a test that is of no stage over each of the links. `check`: over which of them in `make check`."""
    rows = []
    for link in filter(links, LINKS):
        marks = () if link.transport in check.split() else (pytest.mark.long,)
        rows.append(pytest.param(link, id=str(link), marks=marks))
    return pytest.mark.parametrize("link", rows)
