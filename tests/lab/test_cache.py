# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The lab's cache: damaged, without a network, without disk space, without root."""

import os
import subprocess
from pathlib import Path

import pytest

from .conftest import FAILED, RUN, Lab

pytestmark = pytest.mark.long
NOBODY = 65534
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can do this")


def test_a_damaged_part(lab: Lab) -> None:
    """The lab makes the part again."""
    lab.own_cache()
    with (lab.entry / "kernel/image").open("r+b") as image:
        image.seek(5000000)
        image.write(b"X")
    (lab.entry / "siw/siw.cpio").write_bytes(b"")
    said = lab.sh("ibv_devices | grep -q siw0 && exit 6", status=6)
    said.has("kernel is damaged")
    said.has("siw module is damaged")
    lab.run("--", "true").silent()


def test_an_old_cache_without_a_network(lab: Lab) -> None:
    """The lab uses the cache as it is."""
    lab.own_cache()
    lab.no_network()
    subprocess.run(["touch", "-d", "60 days ago", *lab.cached("asked/*")], check=True)
    lab.run("--", "true").silent()


def test_no_cache_and_no_network(lab: Lab) -> None:
    """The lab says what is missing, and leaves nothing."""
    lab.no_network()
    lab.empty_cache()
    lab.run("--", "true", status=FAILED).has("network")
    assert not lab.cached("tmp.*")


@needs_root
def test_a_full_disk(lab: Lab) -> None:
    """The lab says how much is free."""
    (lab.dir / "empty").mkdir()
    lab.empty_cache()
    on_it = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=20m none empty; exec "$@"', "sh")
    lab.run("--", "true", status=FAILED, under=on_it).has("MB free")


@needs_root
def test_an_ordinary_user(lab: Lab) -> None:
    """The user is root in the guest, and the same user outside."""
    if subprocess.call([*AS_NOBODY, "test", "-x", RUN]):
        pytest.skip("another user cannot read this tree")
    lab.own_cache()
    subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", lab.dir], check=True)
    lab.run("--", "sh", "-c", "id -u >file; exit 3", status=3, under=AS_NOBODY)
    file = Path(lab.dir / "file")
    assert file.read_text() == "0\n" and file.stat().st_uid == NOBODY
