# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The stages: which there are, which each goes on from, and which files make it.

Place: used by bench/, course/, tests/ and tools/. Contract: the order is the Makefile's, what a stage goes on from is in its
stage.c, its files are those that the linker takes, and facts are what its client says with --describe.
"""

import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from tools.folders import TOP, folder

ROLES = ("client", "server")
ONE_FILE = ["ping-ep-0", "ping-mt-4", "ping-failover-2", "ping-ud-0", "mcast-ud-0"]  # each side of these is one file, and takes nothing of another stage


def without_make() -> dict[str, str]:
    """The environment, without what a make that started this has put there."""
    return {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}


def make(*words: str) -> str:
    """Returns the output of make."""
    command = ["make", "--no-print-directory", "--silent", *words]
    return subprocess.run(command, cwd=TOP, env=without_make(), check=True, stdout=subprocess.PIPE, text=True).stdout


@cache
def variable(name: str) -> list[str]:
    """The words of a variable of the Makefile."""
    return make(f"print-{name}").split()


def stages() -> list[str]:
    """All that have a stage.c, in the order of the course."""
    return variable("STAGES") + variable("OTHERS")


def _said(stage: str, what: str) -> list[str]:
    """The words of a line in the comment that opens its stage.c."""
    file = TOP / folder(stage) / "stage.c"
    found = re.search(rf"^ \* {what}: (.*)\.$", file.read_text(), re.MULTILINE) if file.exists() else None
    return found[1].split() if found else []


def before(stage: str) -> str:
    """The stage whose lesson it goes on from; of the first one, and of one that is a single file, nothing."""
    return "".join(_said(stage, "Goes on from"))


def aside(stage: str) -> list[str]:
    """Files that a reader of its delta can leave for later."""
    return _said(stage, "To be read separately")


class NotBuilt(SystemExit):
    """There is no program to be asked; who does not expect that ends with this message."""


def _described(stage: str) -> dict[str, Any]:
    """Returns the description of the stage by its client."""
    command = [str(TOP / folder(stage) / "client"), "--describe"]
    said = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=60).stdout)
    assert isinstance(said, dict)
    return said


@cache
def facts() -> dict[str, dict[str, Any]]:
    """Returns the descriptions of all stages, which are asked once after each build. Raises NotBuilt."""
    names = sorted(file.parent.name for pattern in ("*-*/stage.c", "beyond/*/stage.c") for file in TOP.glob(pattern))
    clients = [TOP / folder(name) / "client" for name in names]
    if missing := [str(client.relative_to(TOP)) for client in clients if not client.exists()]:
        raise NotBuilt(f"not built: {', '.join(missing)}; run make")
    kept = TOP / "build/stages.json"
    if kept.exists() and kept.stat().st_mtime > max(client.stat().st_mtime for client in clients):
        found: dict[str, dict[str, Any]] = json.loads(kept.read_text())
        return found
    with ThreadPoolExecutor() as pool:
        found = dict(zip(names, pool.map(_described, names)))
    new = kept.with_suffix(f".{os.getpid()}")
    new.write_text(json.dumps(found))
    new.replace(kept)
    return found


@cache
def parts(stage: str, role: str) -> list[str]:
    """The sources of a program, without those of the rooms. It is built if it is not there."""
    if not (TOP / folder(stage) / role).exists():
        make(f"{folder(stage)}/{role}")
    objects = [f"build/program/serve/{role}_main.o", f"build/{folder(stage)}/stage.o", *variable("SUITE")]
    command = ["cc", "-Wl,--trace", *objects, "-lrdmacm", "-libverbs", "-pthread", "-o", os.devnull]
    taken = subprocess.run(command, cwd=TOP, check=True, capture_output=True, text=True).stdout
    sources = re.findall(r"^build/(.*)\.o$", taken, re.MULTILINE)
    rooms = variable("ROOMS")
    return sorted(f"{path}.c" for path in sources if path.split("/")[0] not in rooms or path.endswith("_main"))
