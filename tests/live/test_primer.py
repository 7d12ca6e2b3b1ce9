# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The first program of docs/primer.md, compiled with the line that the page shows, and its server."""

import re
import subprocess
from pathlib import Path

import pytest
from live.conftest import Run, next_port
from live.table import TOP, Link, over


@pytest.fixture(scope="module")
def first_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compiled once: an emulated guest takes some seconds."""
    line = re.findall(r"^    \$ (cc .*) && lab/run ", (TOP / "docs/primer.md").read_text(), re.MULTILINE)
    program: Path = tmp_path_factory.mktemp("primer") / "first_client"
    assert len(line) == 1 and " build/first_client " in line[0]
    subprocess.run([*line[0].replace("build/first_client", str(program)).split(), "-Werror"], cwd=TOP, check=True, timeout=100)
    return program


@over()
def test_the_first_program(run: Run, link: Link, first_program: Path) -> None:
    where = (link.address, next_port())
    s = run("build/examples/plain/echo_server", *where).awaits(": listening")
    assert "hello, RDMA" in run(str(first_program), *where).ends(0).out
    s.signal("TERM").ends(0)
