# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Plain `make` where the RDMA libraries are missing names their packages, and `make -n` needs nothing."""

import os
import subprocess
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
LIMIT_S = 60
# What Debian's own have in common with these: dpkg-query's answer, and that there is an apt-get.
FAKES = {
    "cc": '#!/bin/sh\necho "fatal error: infiniband/verbs.h: No such file or directory" >&2\nexit 1\n',
    "dpkg-query": "#!/bin/sh\nfor name in gcc make libc6-dev python3; do echo installed $name,; done\n",
    "apt-get": "#!/bin/sh\necho apt-get was called >&2\n",
}


def make(scratch: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs make with a build directory of its own."""
    environment = {"PATH": f"{scratch}/bin:{os.environ['PATH']}"}
    command = ["make", f"BUILD={scratch}/build", *words]
    return subprocess.run(command, cwd=TOP, env=environment, capture_output=True, text=True, timeout=LIMIT_S)


def test_packages_are_named(tmp_path: Path) -> None:
    """Nothing is installed, and nothing compiled."""
    for name, text in FAKES.items():
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    ended = make(tmp_path, "CC=cc")
    assert ended.returncode == 2, ended.stderr
    packages = "ibverbs-providers jq libibverbs-dev librdmacm-dev"
    assert f"packages missing: {packages}\n" in ended.stderr
    assert f"run as root: apt-get update && apt-get install --no-install-recommends {packages}\n" in ended.stderr
    assert "apt-get was called" not in ended.stderr
    assert not list(tmp_path.rglob("*.o"))


def test_a_dry_run_runs_nothing(tmp_path: Path) -> None:
    """Not even what calls make again: whoever looks first, as on a new machine, has no Python yet."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").write_text("#!/bin/sh\nexit 127\n")
    (tmp_path / "bin/python3").chmod(0o755)
    ended = make(tmp_path, "-n", "-W", "Makefile", "compile_commands.json")
    assert ended.returncode == 0, ended.stderr
    assert "tools/compile-commands" in ended.stdout


def test_headers_may_be_elsewhere(tmp_path: Path) -> None:
    for name in ("rdma/rdma_cma.h", "infiniband/verbs.h"):
        path = tmp_path / "opt" / name
        path.parent.mkdir(parents=True)
        path.write_text("")
    found = f"{tmp_path}/build/headers-found"
    ended = make(tmp_path, found, f"CPPFLAGS=-nostdinc -I{tmp_path}/opt")
    assert ended.returncode == 0, ended.stderr
    assert Path(found).exists()
    Path(found).unlink()
    assert make(tmp_path, found, "CPPFLAGS=-nostdinc").returncode == 2
