# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Plain `make` where the RDMA libraries are missing names their packages."""

from __future__ import annotations

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
LIMIT_S = 60
# What Debian's own have in common with these: dpkg-query's answer, and that there is an apt-get.
FAKES = {
    "cc": '#!/bin/sh\necho "fatal error: infiniband/verbs.h: No such file or directory" >&2\nexit 1\n',
    "dpkg-query": "#!/bin/sh\nfor name in gcc make libc6-dev python3; do echo installed $name,; done\n",
    "apt-get": "#!/bin/sh\necho apt-get was called >&2\n",
}


class PlainMake(unittest.TestCase):
    """Nothing is installed, and nothing compiled."""

    def setUp(self) -> None:
        """A directory for the fakes, and for what is built."""
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name)

    def make(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs make with a build directory of its own."""
        environment = {"PATH": f"{self.scratch}/bin:{os.environ['PATH']}"}
        command = ["make", f"BUILD={self.scratch}/build", *words]
        return subprocess.run(command, cwd=TOP, env=environment, capture_output=True, text=True, timeout=LIMIT_S)

    def test_packages_are_named(self) -> None:
        for name, text in FAKES.items():
            path = self.scratch / "bin" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            path.chmod(0o755)
        ended = self.make("CC=cc")
        self.assertEqual(ended.returncode, 2, ended.stderr)
        packages = "ibverbs-providers jq libibverbs-dev librdmacm-dev"
        self.assertIn(f"packages missing: {packages}\n", ended.stderr)
        self.assertIn(f"run as root: apt-get update && apt-get install --no-install-recommends {packages}\n", ended.stderr)
        self.assertNotIn("apt-get was called", ended.stderr)
        self.assertEqual(list(self.scratch.rglob("*.o")), [])

    def test_headers_may_be_elsewhere(self) -> None:
        for name in ("rdma/rdma_cma.h", "infiniband/verbs.h"):
            path = self.scratch / "opt" / name
            path.parent.mkdir(parents=True)
            path.write_text("")
        found = f"{self.scratch}/build/headers-found"
        ended = self.make(found, f"CPPFLAGS=-nostdinc -I{self.scratch}/opt")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertTrue(Path(found).exists())
        Path(found).unlink()
        self.assertEqual(self.make(found, "CPPFLAGS=-nostdinc").returncode, 2)


if __name__ == "__main__":
    unittest.main()
