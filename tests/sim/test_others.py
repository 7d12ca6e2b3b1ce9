# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs that are not ours, as docs/testing.md shows: Debian's, and an echo on Debian's librpma. What they leave to exit(3) is no
fault here.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from sim.simulation import ADDRESS, TRANSPORTS, simulate

LEFT_OVER = 121
ECHO = "build/examples/others/librpma"
PAIRS = {
    "rping": (f"rping -s -a {ADDRESS} -C 10", f"rping -c -a {ADDRESS} -C 10"),
    "ib_send_lat": ("ib_send_lat -R -n 5", f"ib_send_lat -R -n 5 {ADDRESS}"),
    "librpma": (f"{ECHO} server {ADDRESS} 7471", f"{ECHO} client {ADDRESS} 7471 20 64"),
}


over_each = pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)


@over_each
def test_ibv_devinfo(transport: list[str]) -> None:
    """What a newcomer asks first: the attributes, which drivers/test_simulation.py compares, and the GIDs."""
    if not shutil.which("ibv_devinfo"):
        pytest.skip("ibv_devinfo is not there: ibverbs-utils")
    run = simulate([["ibv_devinfo", "-v"]], *transport)
    assert not run.exit and "PORT_ACTIVE (4)" in run.out, run.why()
    said = " ".join(run.out.split())
    assert ("hca_id: siw0" if transport else f"GID[ 1]: ::ffff:{ADDRESS}, RoCE v2") in said and "GID[ 4]" not in said


@over_each
@pytest.mark.parametrize("name", PAIRS)
def test_five_seeds(name: str, transport: list[str]) -> None:
    pair = [words.split() for words in PAIRS[name]]
    if not shutil.which(pair[0][0]) and not Path(pair[0][0]).exists():
        pytest.skip(f"{pair[0][0]} is not there: perftest, rdmacm-utils; librpma-dev and make others")
    for seed in range(1, 6):
        run = simulate(pair, *transport, "--seed", str(seed))
        assert run.exit in (0, LEFT_OVER), run.why()
        assert run.statuses == [0, 0] and (not run.exit or name == "ib_send_lat"), run.why()
