# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""tools/packages on machines that are not this one: made-up commands stand for another distribution, and another processor; and its
list, against what the scripts import and call.
"""

import ast
import functools
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.folders import TOP, files

COMMANDS = "awk bash cat dirname env grep sed sort tr".split()


def say(where: Path, processor: str, has: str, *parts: str) -> str:
    """Returns its output on a machine with this processor and this one command for packages."""
    for name in COMMANDS:
        (where / name).symlink_to(shutil.which(name) or "/")
    for name, text in {"uname": f"echo {processor}", has: "exit 1"}.items():
        (where / name).write_text(f"#!{shutil.which('bash')}\n{text}\n")
        (where / name).chmod(0o755)
    done = subprocess.run(["tools/packages", *parts], cwd=TOP, env={"PATH": str(where)}, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    return done.stderr


@pytest.mark.parametrize(
    "has, words",
    [
        ("dnf", "dnf install gcc glibc-devel jq libibverbs make python3 rdma-core-devel "),
        ("pacman", "pacman -S --needed gcc glibc jq make python rdma-core "),
        ("zypper", "zypper install gcc glibc-devel jq libibverbs make python3 rdma-core-devel "),
        ("none", "under the names they have here: gcc ibverbs-providers jq libc6-dev "),
    ],
)
def test_another_distribution(tmp_path: Path, has: str, words: str) -> None:
    said = say(tmp_path, "x86_64", has, "build")
    assert words in said and "OUR_PACKAGES=installed" in said


def test_what_needs_debian(tmp_path: Path) -> None:
    said = say(tmp_path, "x86_64", "dnf", "build", "lab")
    assert "use the container (docs/anywhere.md)" in said and " qemu-system-x86 " in said


@pytest.mark.parametrize("processor, qemu, other", [("x86_64", "qemu-system-x86", "qemu-system-arm"), ("aarch64", "qemu-system-arm", "qemu-system-x86")])
def test_another_processor(tmp_path: Path, processor: str, qemu: str, other: str) -> None:
    said = say(tmp_path, processor, "none", "lab")
    assert f" {qemu} " in said and other not in said and "[" not in said


# ---- What scripts need, and what packages.txt has for them ----

# The parts of packages.txt that are installed where a script runs, by what its path begins with: all rows that fit. A module
# that a script of Python imports needs them, too. The tests of a product in tools/ run where those of tests/ do.
ROOMS = {
    "build": "tools/verbs-trace/ tools/packaging/ tools/devices/ course/make.py course/bug.py course/make_sim.py tools/stage tools/picture".split(),
    "build lab": "lab/ tools/demo".split(),
    "build lab tests": "tests/ course/ examples/ tools/files tools/stage".split(),
    "build lab capture": ["tools/capture/"],
    "build lab bench": ["bench/"],
    "build lint": "tools/lint tools/site/fill.py tests/house/".split(),  # mypy reads all tests, for example those
    "docs": ["tools/site/"],
    "build lint lab tests ci": [".ci/"],
}
# These are found, and rightly in no part of their rooms.
OPTIONAL = {
    "perf": "bench/comparison counts without it",
    "man": "its rows are skipped",
    "valgrind": "tests/sanitize names [sanitize]",
    "abidiff": "tests/house/test_abi.py names [long]",
    "mmdebstrap": "tests/bare names [ci]",
    "cmake": "tests/bare installs it",
    "ninja": "tests/bare installs it",
    "sudo": "tests/bare installs it",
}
WORDS = "apt as file kill less look reboot time write".split()  # these begin a list or a line, but are no commands; reboot is busybox's
SYSTEM = "/usr/sbin:/usr/bin:/sbin:/bin"
COMMAND = re.compile(r"(?:^|[|;&(!]|\b(?:if|then|do|else|while|until|exec|command -v))[ \t]*(?:\w+=\S*[ \t]+)*([a-z][\w.+-]*)(?=[\s;]|$)", re.MULTILINE)
HERE_OR_COMMENT = re.compile(r"<<-?['\"]?(\w+).*?^\s*\1$|(?:^|\s)#.*?$", re.MULTILINE | re.DOTALL)
needs_debian = pytest.mark.skipif(not shutil.which("dpkg-query"), reason="this is not Debian")


def said(*argv: str) -> str:
    """Returns the output of a command, also if it fails."""
    return subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False).stdout


@functools.cache
def scripts() -> dict[str, ast.Module | str]:
    """The scripts: those of Python as trees, those of bash as texts."""
    found: dict[str, ast.Module | str] = {}
    for name in files():
        text = (TOP / name).read_text(errors="replace")
        head = text.split("\n", 1)[0]
        if name.endswith(".py") or re.search(r"^#!.*\bpython3?\b", head):
            found[name] = ast.parse(text)
        elif name.endswith(".sh") or re.search(r"^#!.*\b(ba)?sh\b|^# shellcheck shell=", head):
            found[name] = HERE_OR_COMMENT.sub("", text)
    return found


def imports(name: str) -> Iterator[tuple[str, set[str]]]:
    """The modules that a script of Python imports, and the files of ours that each may be."""
    here = Path(name).parent
    for node in ast.walk(scripts()[name]):  # type: ignore[arg-type]
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        base = f"{node.module or ''}." if isinstance(node, ast.ImportFrom) else ""
        folders = [here] if getattr(node, "level", 0) else [Path(), Path("tests"), here]
        for module in [base.strip("."), *(base + each.name for each in node.names)]:
            path = module.replace(".", "/").strip("/")
            yield module, {str(folder / f"{path}{end}") for folder in folders for end in (".py", "/__init__.py")} & {*scripts()}


@functools.cache
def modules(name: str) -> frozenset[str]:
    """The modules that are neither ours nor Python's, and that a script and what it imports import."""
    found, todo, known = set(), [name], set()
    ours = {part for script in scripts() for part in (Path(script).stem, *Path(script).parts)}
    while todo:
        known.add(script := todo.pop())
        for module, paths in imports(script):
            first = module.split(".")[0]
            found |= {first} - {"", *ours, *sys.stdlib_module_names}
            todo += paths - known
    return frozenset(found)


@functools.cache
def programs(name: str) -> frozenset[str]:
    """The words of a script that may be commands: at the begin of a list in Python, and where bash expects one."""
    script = scripts()[name]
    if isinstance(script, str):
        return frozenset(COMMAND.findall(script)) - {*said("bash", "-c", "compgen -bk").split()}
    lists = (node.elts[0] for node in ast.walk(script) if isinstance(node, ast.List) and node.elts)
    return frozenset(str(first.value) for first in lists if isinstance(first, ast.Constant) and re.fullmatch(r"[a-z][\w.+-]*", str(first.value)))


def paths(need: str) -> set[str]:
    """Returns the existing paths at which Debian may have the file of a program or of a module."""
    kind, name = need.split()
    found = shutil.which(name, path=SYSTEM) if kind == "program" else None
    if kind == "module" and (spec := importlib.util.find_spec(name)):
        found = spec.origin or next(iter(spec.submodule_search_locations or ()))
    both = {found, str(Path(found).resolve())} if found else set()
    if found and os.path.islink(found) and os.readlink(found).startswith("/etc/alternatives/"):  # awk may be mawk, or another
        both |= {*said("update-alternatives", "--list", name).split()}
    return both | {path.removeprefix("/usr") for path in both}


def packages(needs: set[str]) -> dict[str, set[str]]:
    """The packages of each; those of a program that is not here are not known, and a module's has Debian's usual name."""
    places = {path: need for need in needs for path in paths(need)}
    found = {need: {"python3-" + need.split()[1].replace("_", "-")} for need in needs - {*places.values()} if need.startswith("module ")}
    for line in said("dpkg", "-S", *places).splitlines():
        names, path = line.rsplit(": ", 1)
        if path in places:
            found.setdefault(places[path], set()).update(re.findall(r"([a-z0-9][a-z0-9.+-]+)(?::\w+)?(?:, |$)", names))
    return found


@functools.cache
def installed() -> dict[str, tuple[str, set[str]]]:
    """Returns the priority of each package that is installed, and what it depends on."""
    lines = said("dpkg-query", "--show", "--showformat=${Package}\t${Priority}\t${Pre-Depends}, ${Depends}\n").splitlines()
    return {name: (priority, {*re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9.+-]*)", needs)}) for name, priority, needs in (line.split("\t") for line in lines)}


def there(parts: list[str]) -> set[str]:
    """The packages of a new machine, of the parts, and what these depend on."""
    todo, found, part = ["apt", "git", "make", *(name for name, (priority, _) in installed().items() if priority == "required")], set(), ""
    for line in (TOP / "tools/packages.txt").read_text().splitlines():
        word = line.partition("#")[0].strip().split(" ")[0]
        part = word.strip("[]") if word.startswith("[") else part
        todo += [word] if part in parts and word and word[0] != "[" else []
    while todo:
        found.add(name := todo.pop())
        todo += installed().get(name, ("", set()))[1] - found
    return found


@needs_debian
@pytest.mark.parametrize("parts", ROOMS)
def test_what_scripts_need_is_in_the_list(parts: str) -> None:
    """The texts of scripts show this, except for programs in strings or variables, and programs that are not installed here."""
    of_product = {name: name.startswith(("tools/", "course/")) and "/tests/" in name for name in scripts()}
    names = [name for name in scripts() if (parts == "build lab tests" if of_product[name] else name.startswith(tuple(ROOMS[parts])))]
    needs = {name: {f"module {one}" for one in modules(name)} if isinstance(scripts()[name], ast.Module) else set() for name in names}
    for name in names:
        needs[name] |= {f"program {one}" for one in programs(name) - {*OPTIONAL, *WORDS}}
    have, known = there(parts.split()), packages(set().union(*needs.values()))
    assert names and known
    missing = {f"{name}: {need} of {' or '.join(sorted(known[need]))}" for name in names for need in needs[name] & {*known} if not known[need] & have}
    assert not missing, f"in none of [{parts}] of tools/packages.txt:\n" + "\n".join(sorted(missing))
