# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The fixtures that rows of tests/live get in place of real programs over real drivers: see scene.py and test_rows.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from live import conftest as live
from live import kernel
from live.table import Link
from sim.scene import SceneRun


def pingpong(link: Link, *options: object) -> list[object]:
    """Replaces the fixture of test_pairs, which looks for the device in /sys."""
    return ["ibv_rc_pingpong", "-d", link.device, "-g", "1", "-n 300 -s 512", *options]


@pytest.fixture
def run(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SceneRun]:
    """A scene of the test's link; of a test without one, of the lab's two devices. Whatever the test asks the kernel or the
    clock, the scene answers."""
    link: Link | None = request.getfixturevalue("link") if "link" in request.fixturenames else None
    run = SceneRun(link.transport if link else "both", tmp_path)
    scene = run.scene
    monkeypatch.setattr("live.test_pairs.pingpong", pingpong)
    monkeypatch.setattr(kernel, "objects", scene.objects)
    monkeypatch.setattr(kernel, "qps", lambda: [scene.state["objects"].get("QP", 0)])
    monkeypatch.setattr(kernel, "connected", lambda _: scene.state["connected"])
    for name, answer in (("until", scene.until), ("time", scene)):
        if name in request.function.__globals__:
            monkeypatch.setitem(request.function.__globals__, name, answer)
    yield run
    scene.close()


server, client, pair, peer = live.server, live.client, live.pair, live.peer
rng = live.rng


@pytest.fixture
def seconds(request: pytest.FixtureRequest) -> float:
    """A siege is shorter: in a simulated second it begins up to 900 programs, and a run may have 4096 of them."""
    return float(request.config.option.seconds) / (15 if "done" in request.fixturenames else 1)
