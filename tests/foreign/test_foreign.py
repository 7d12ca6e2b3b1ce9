# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The two files of the library, and the unit tests with those of the formats on the wire, for arm64 and for s390x, which
is big-endian: compiled here, and run by qemu, which emulates a process. On arm64 all stages, too, over the simulated device.

Place: only make check-long runs it. Needs [long] of tools/packages.txt. Contract: headers and libraries of these processors are
unpacked into build/foreign/ once. Emulated processes see this processor's memory order, not the weaker one of arm64.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from live.table import STAGES, Stage
from sim.simulation import TRANSPORTS, pair

pytestmark = [pytest.mark.long, pytest.mark.timeout(0)]
TOP = Path(__file__).resolve().parents[2]
FOREIGN = TOP / "build/foreign"
PACKAGES = "libc6-dev,libc-bin,librdmacm-dev,libibverbs-dev,check"
# Undefined behaviour ends a test without the library of the sanitizer, which cross-compilers have for their own root only.
UNDEFINED = "UNDEFINED=-fsanitize=undefined,bounds-strict -fsanitize-undefined-trap-on-error"


def must(*command: object, limit_s: int, **settings: str) -> None:
    """A command that has to succeed."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=TOP, env=os.environ | settings, capture_output=True, text=True, timeout=limit_s)
    assert done.returncode == 0, f"{words}:\n{(done.stdout + done.stderr)[-3000:]}"


def cross(cpu: str, root: Path) -> str:
    """The compiler that make is to use."""
    return f"CC={cpu}-linux-gnu-gcc --sysroot={root}"


def root_of(architecture: str) -> Path:
    """Unpacks packages of this machine's Debian release for that processor; runs no program of theirs."""
    root = FOREIGN / architecture
    if not (root / "unpacked").exists():
        shutil.rmtree(root, ignore_errors=True)
        FOREIGN.mkdir(parents=True, exist_ok=True)
        release = platform.freedesktop_os_release()["VERSION_CODENAME"]
        must("mmdebstrap", "--variant=extract", f"--architectures={architecture}", f"--include={PACKAGES}", release, root,
             limit_s=600)  # fmt: skip
        shutil.rmtree(root / "dev")  # qemu would take it for this machine's
        if not (root / "lib").exists():
            (root / "lib").symlink_to("usr/lib")  # Debian 13 has this in a package that is not needed otherwise
        (root / "unpacked").touch()
    return root


@pytest.mark.parametrize("architecture, cpu", [("arm64", "aarch64"), ("s390x", "s390x")])
def test_it_works_on(architecture: str, cpu: str) -> None:
    root = root_of(architecture)
    built = f"build/foreign/{architecture}-built"
    packages = f"{root}/usr/lib/{cpu}-linux-gnu/pkgconfig:{root}/usr/share/pkgconfig"
    must("make", "CI=true", f"BUILD={built}", cross(cpu, root), UNDEFINED, "installed-library",
         f"{built}/tests/unit-tests", limit_s=900, PKG_CONFIG_SYSROOT_DIR=str(root), PKG_CONFIG_LIBDIR=packages, MAKEFLAGS="")  # fmt: skip
    must(f"qemu-{cpu}", "-L", root, f"{built}/tests/unit-tests", limit_s=600)


@pytest.fixture(scope="module")
def tree() -> Path:
    """A copy of this tree, with programs of arm64."""
    root, tree = root_of("arm64"), FOREIGN / "arm64-tree"
    must("tools/files", "--copy", tree, limit_s=60)
    must("make", "-j2", "-C", tree, "CI=true", cross("aarch64", root), "all", limit_s=900, MAKEFLAGS="")
    return tree


ROWS = [(stage, transport) for stage in STAGES if not stage.nine for transport in TRANSPORTS if "RoCE" in transport or not stage.roce_only]


@pytest.mark.parametrize("stage, transport", ROWS, ids=[f"{stage}-{transport}" for stage, transport in ROWS])
def test_fifty_seeds_on_arm64(stage: Stage, transport: str, tree: Path) -> None:
    prefix = {"QEMU_LD_PREFIX": str(root_of("arm64"))}
    try:
        subprocess.run([tree / "tools/verbs-sim/verbs-sim", "--help"], env=os.environ | prefix, capture_output=True, check=True)
    except OSError:
        pytest.skip("Linux starts no program of arm64 here: qemu-user-static, and root to mount binfmt_misc")
    server, client = ([str(tree / words[0]), *words[1:]] for words in pair(stage, 20))
    must(tree / "tools/verbs-sim/verbs-sim", "-q", "--seeds", "50", *TRANSPORTS[transport], "--", *server, ":::", *client, limit_s=600, **prefix)
