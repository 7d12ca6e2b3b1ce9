# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs of Debian that are not ours, as docs/testing.md shows. Objects that they leave to exit(3) are no fault here."""

from __future__ import annotations

import re
import shutil

import pytest
from running import TRANSPORTS, skip_if_real
from verbs_sim import ADDRESS, simulate

LEFT_OVER = 121
PAIRS = {
    "rping": (f"rping -s -a {ADDRESS} -C 10", f"rping -c -a {ADDRESS} -C 10"),
    "rping-q": (f"rping -s -q -a {ADDRESS} -C 10", f"rping -c -q -a {ADDRESS} -C 10"),  # makes its QPs ready itself
    "rdma_xclient": ("rdma_xserver", f"rdma_xclient -s {ADDRESS}"),  # sends more inline than its QP is granted
    "ib_send_lat": ("ib_send_lat -R -n 5", f"ib_send_lat -R -n 5 {ADDRESS}"),
    "ib_read_bw": ("ib_read_bw -R -n 5", f"ib_read_bw -R -n 5 {ADDRESS}"),  # its server leaves just after its last message
    "ib_send_bw": ("ib_send_bw -d rxe0 -n 5", "ib_send_bw -d rxe0 -n 5 localhost"),  # closes its context before a CQ of it
    "qperf": ("qperf", f"qperf {ADDRESS} -t 1 -cm 1 rc_lat quit"),
    "fi_pingpong": ("fi_pingpong -p verbs -e msg -I 5", f"fi_pingpong -p verbs -e msg -I 5 {ADDRESS}"),
    "rstream": ("rstream -C 2 -S 1000", f"rstream -C 2 -S 1000 -s {ADDRESS}"),  # its last but one message is a WRITE in pieces
    "rstream-fork": ("rstream -T f -C 2 -S 1000", f"rstream -T f -C 2 -S 1000 -s {ADDRESS}"),  # accepts without blocking, in a loop
    "riostream": ("riostream -C 1 -S 1000", f"riostream -C 1 -S 1000 -s {ADDRESS}"),  # ends its region when the last byte is there
}
LEAVE = ("ib_send_lat", "ib_read_bw", "ib_send_bw", "qperf", "rstream", "riostream")
REFUSED = ("ib_send_lat", "ib_read_bw")  # may connect again before the server listens again, and crash: see docs/testing.md
ON_ROCE = ("ib_send_bw", "rping-q")  # QPs that are connected by hand
ROWS = [
    pytest.param(name, options, id=f"{name}-{transport}")
    for name in PAIRS
    for transport, options in TRANSPORTS.items()
    if not (options and name in ON_ROCE)
]


@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
def test_ibv_devinfo(transport: list[str]) -> None:
    """A newcomer's first command shows the attributes, which drivers/test_simulation.py compares, and the GIDs."""
    if not shutil.which("ibv_devinfo"):
        pytest.skip("ibv_devinfo is not there: ibverbs-utils")
    run = simulate([["ibv_devinfo", "-v"]], *transport)
    assert not run.exit and "PORT_ACTIVE (4)" in run.out, run.why()
    said = " ".join(run.out.split())
    assert ("hca_id: siw0" if transport else f"GID[ 1]: ::ffff:{ADDRESS}, RoCE v2") in said and "GID[ 4]" not in said


def test_only_drivers_of_simulated_devices_are_loaded() -> None:
    """libibverbs loads the library of each driver that /etc/libibverbs.d names: many, of which a run needs two at most."""
    if not shutil.which("ibv_devinfo"):
        pytest.skip("ibv_devinfo is not there: ibverbs-utils")
    run = simulate([["env", "LD_DEBUG=files", "ibv_devinfo"]])
    loaded = {*re.findall(r"calling init: .*/lib(\w+)-rdmav\d+\.so", run.err)}
    assert not run.exit and loaded == {"rxe", "siw"}, run.why()


@pytest.mark.parametrize("name, transport", ROWS)
def test_three_seeds(name: str, transport: list[str]) -> None:
    """Runs the first seed twice."""
    pair = [words.split() for words in PAIRS[name]]
    if not shutil.which(pair[0][0]):
        pytest.skip(f"{pair[0][0]} is not there: perftest, rdmacm-utils, qperf, libfabric-bin")
    hashes = dict[int, str]()
    for seed in (1, 1, 2, 3):
        one = simulate(pair, *transport, "--seed", str(seed))
        skip_if_real(one)
        assert hashes.setdefault(seed, one.hash) == one.hash, one.command
        if name in REFUSED and "RDMA_CM_EVENT_REJECTED" in one.err:
            continue
        assert one.exit in (0, LEFT_OVER), one.why()
        assert one.statuses == [0, 0] and (not one.exit or name in LEAVE), one.why()


UCMATOSE, UDADDY = (f"{name} -C 3 ::: {name} -s {ADDRESS} -C 3" for name in ("ucmatose", "udaddy"))
RPING = f"rping -s -a {ADDRESS} -C 3 ::: rping -c -a {ADDRESS} -C 3"
CLIENT_SERVER = f"rdma_server ::: rdma_client -s {ADDRESS}"
# Rows of docs/testing.md, with the statuses of both; 143: it waits forever, and was told to stop.
RECOVERY = [
    (RPING, "--fail 0:ibv_post_send:2:SILENCE", [143, 143]),  # retry_count 7 is forever to soft-RoCE
    (RPING, "--device adapter --fail 0:ibv_post_send:2:SILENCE", [255, 143]),
    (RPING, "--device adapter --fail 0:ibv_post_send:2:SILENCE=30s", [255, 0]),  # the client has not had its pings
    (RPING, "--iwarp --fail 1:ibv_post_recv:2:PORT_DOWN=2s", [0, 143]),
    (UCMATOSE, "--device adapter --fail 0:ibv_post_send:1:SILENCE=30s", [0, 143]),
    (UCMATOSE, "--fail 0:ibv_post_send:1:RETRY_EXC_ERR", [0, 0]),  # nobody reads the status
    (UDADDY, "--fail 0:ibv_post_send:2:SILENCE=2s", [0, 143]),
    (CLIENT_SERVER, "--fail 0:ibv_post_send:1:PORT_DOWN=2s", [0, 143]),
    (CLIENT_SERVER, "--fail 0:ibv_post_send:1:RETRY_EXC_ERR", [0, 0]),
    ("ibv_rc_pingpong -e -g 1 -n 5 ::: ibv_rc_pingpong -e -g 1 -n 5 localhost", "--fail 0:ibv_post_send:3:SILENCE", [143, 143]),
    ("ib_send_bw -R -n 5 ::: ib_send_bw -R -n 5 " + ADDRESS, "--fail 1:rdma_resolve_addr:2:PORT_DOWN=1s", [143, 128 + 11]),
]


@pytest.mark.parametrize("programs, options, statuses", RECOVERY)
def test_a_link_fails_under_them(programs: str, options: str, statuses: list[int]) -> None:
    pair = [words.split() for words in programs.split(" ::: ")]
    if not shutil.which(pair[0][0]):
        pytest.skip(f"{pair[0][0]} is not there: perftest, rdmacm-utils, ibverbs-utils")
    one = simulate(pair, *options.split(), "--leaks", "ignore")
    assert one.fault and one.statuses == statuses, one.why()
