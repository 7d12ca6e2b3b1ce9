# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The first programs of docs/primer.md, compiled with the line that the page shows."""

import re
import subprocess
from pathlib import Path

import pytest
from live.conftest import Run, next_port
from live.table import TOP, Link, over


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs, compiled once: an emulated guest takes some seconds."""
    line = re.findall(r"^    \$ (for side in server client; do cc .*; done) && lab/run ", (TOP / "docs/primer.md").read_text(), re.MULTILINE)
    into: Path = tmp_path_factory.mktemp("primer")
    assert len(line) == 1 and " build/first_$side " in line[0]
    words = line[0].replace("build/first", f"{into}/first").replace("-Wall", "-Wall -Werror")
    subprocess.run(["sh", "-ec", words], cwd=TOP, check=True, timeout=100)
    return into


@over()
def test_the_first_programs(run: Run, link: Link, folder: Path) -> None:
    where = (link.address, next_port())
    s = run(str(folder / "first_server"), *where).awaits(": listening")
    assert run(str(folder / "first_client"), *where).ends(0).out == "'hello, RDMA' came back\n"
    assert s.ends(0).out == "one message sent back\n"
