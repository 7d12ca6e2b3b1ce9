# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""lab/run, as its users call it: in a directory of its own, and with a cache that may be damaged.

Contract: each test has its own TMPDIR, whose name is in the command line of each QEMU that it starts. The kernel is that
of LAB_KERNEL (LAB_KERNEL=6.12 python3 -m pytest tests/lab -m ''), or the default.
"""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from live.processes import until

TOP = Path(__file__).resolve().parents[2]
RUN = str(TOP / "lab/run")
FAILED = 125  # exit status for a failure of the lab itself
NOT_THERE = """Dir::Etc::sourcelist "{0}/sources.list";
Dir::Etc::sourceparts "{0}/parts";
Dir::State::lists "{0}/lists";
Acquire::http::Proxy "http://127.0.0.1:9";
"""


class Said(NamedTuple):
    """The output, a character for each byte."""

    out: str
    err: str

    def has(self, what: str) -> None:
        """Checks that one of the lab's lines matches."""
        assert re.search(rf"^lab: .*(?:{what})", self.err, re.MULTILINE), self.err

    def silent(self) -> None:
        """The lab had nothing to say."""
        assert not self.err


class Lab:
    """Starts programs of a test, in a folder of its own."""

    def __init__(self, directory: Path) -> None:
        self.dir = directory
        self.kernel = os.environ.get("LAB_KERNEL") or "default"
        self.env = {**os.environ, "TMPDIR": str(directory)}
        if "/" in self.kernel:
            self.kernel = self.env["LAB_KERNEL"] = str(Path(self.kernel).resolve())
        self.entry = Path()  # the kernel's file in the cache
        self.log = directory / "log"
        self.process: subprocess.Popen[bytes] | None = None

    def run(self, *words: str, status: int = 0, under: Sequence[str] = (), given: bytes = b"") -> Said:
        """Runs the lab to its end, and checks its exit status."""
        __tracebackhide__ = True
        done = subprocess.run([*under, RUN, *words], cwd=self.dir, env=self.env, input=given, capture_output=True)
        said = Said(done.stdout.decode("latin-1"), done.stderr.decode("latin-1"))
        assert done.returncode == status, f"status {done.returncode}, not {status}: {' '.join(words)}\n{said.err}"
        return said

    def sh(self, script: str, *options: str, status: int = 0) -> Said:
        """Starts a script in the guest."""
        return self.run(*options, "--", "sh", "-c", script, status=status)

    def start(self, script: str) -> subprocess.Popen[bytes]:
        """Starts a script in the guest, and waits until it has said "started"."""
        argv = ["env", "--default-signal=INT", RUN, "--", "sh", "-c", script]
        with self.log.open("wb") as log:
            self.process = process = subprocess.Popen(
                argv, cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )
        until(lambda: "started" in self.log.read_text() or process.poll() is not None, "the script has started")
        return process

    def machines(self) -> list[int]:
        """The process ids of the lab's QEMUs."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                if f"{self.dir}/rdma-lab".encode() in path.read_bytes():
                    found.append(int(path.parent.name))
        return found

    def is_gone(self) -> None:
        """Checks that nothing of the lab runs any more."""
        until(lambda: not self.machines(), "QEMU has ended", within=3)

    def own_cache(self) -> None:
        """Lets the lab use a copy of the cache from now on."""
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rdma-lab"
        subprocess.run(["cp", "-a", "--reflink=auto", cache, self.dir / "rdma-lab"], check=True)
        self.env["XDG_CACHE_HOME"] = str(self.dir)
        name = self.kernel
        if "/" in name:
            name = f"path-{hashlib.sha256(name.encode()).hexdigest()[:12]}"
        (asked,) = self.dir.glob(f"rdma-lab/{os.uname().machine}/asked/*-{name}")
        entry = re.search("^entry (.*)", asked.read_text(), re.MULTILINE)
        assert entry
        self.entry = asked.parents[1] / "kernels" / entry[1]

    def default_kernel(self) -> str:
        """Lets the lab use the default kernel, and a copy of the cache, from now on. Returns the kernel's release."""
        self.kernel = "default"
        self.env = {name: value for name, value in self.env.items() if name not in ("LAB_KERNEL", "LAB_SOURCES")}
        self.own_cache()
        return (self.entry / "kernel/release").read_text().strip()

    def empty_cache(self) -> None:
        """Lets the lab use an empty cache from now on."""
        self.env["XDG_CACHE_HOME"] = str(self.dir / "empty")

    def cached(self, pattern: str) -> list[Path]:
        """Returns the files in the cache."""
        return list(Path(self.env["XDG_CACHE_HOME"]).glob(f"rdma-lab/*/{pattern}"))

    def no_network(self) -> None:
        """Lets apt reach no archive from now on."""
        etc = self.dir / "etc"
        for name in ("parts", "lists/partial"):
            (etc / name).mkdir(parents=True)
        (etc / "sources.list").write_text("deb http://127.0.0.1:9/debian stable main\n")
        (etc / "apt.conf").write_text(NOT_THERE.format(etc))
        self.env["APT_CONFIG"] = str(etc / "apt.conf")

    def program(self, name: str, script: str) -> None:
        """Lets the lab find this program from now on in place of the real one, which the script calls {real}."""
        path = self.dir / "fake" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(script.replace("{real}", str(shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin"))))
        path.chmod(0o755)
        self.env["PATH"] = f"{path.parent}:{os.environ['PATH']}"


@pytest.fixture(scope="session")
def fetched() -> None:
    """The cache has the kernel of LAB_KERNEL, and the default one."""
    for env in (os.environ, {**os.environ, "LAB_KERNEL": "", "LAB_SOURCES": ""}):
        subprocess.run([RUN, "--fetch"], env=env, check=True)


@pytest.fixture
def lab(fetched: None) -> Iterator[Lab]:  # pylint: disable=unused-argument
    """The lab, in a short path that another user may enter."""
    with TemporaryDirectory(prefix="lab-test-", dir="/tmp") as name:
        Path(name).chmod(0o755)
        own = Lab(Path(name))
        yield own
        if own.process:
            own.process.kill()
