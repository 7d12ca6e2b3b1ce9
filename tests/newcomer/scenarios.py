# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What new users do: each scenario is a method of Newcomers, which raises Trouble if it fails.

The first scenarios share one root, in which everything is fetched from the network. Those after them have roots of
their own. To save time these share the packages that apt has downloaded before; ordinary users fetch and build the
lab's kernel by themselves.
"""

import shlex
import shutil
import subprocess
from pathlib import Path

from newcomer import judge
from newcomer.root import Root, Trouble

# name: what it shows; in the order in which they run
SCENARIOS = {
    "demo": "make -n check, which needs no packages; make demo as root",
    "again": "make demo a second time: nothing is installed or fetched",
    "offline": "make clean, then make demo without a network",
    "check": "make check as root: nothing fails, nothing is skipped without need",
    "sudo": "make demo as a user with sudo",
    "user": "make demo as a user without: says what root is to run; then root does, and it works",
    "spaces": "make demo and the unit tests in a path with spaces",
    "install": "make install; then, without the tree, programs by make, meson and CMake; make uninstall leaves nothing",
}
AFTER_DEMO = ("again", "offline", "check")
DEMO_SECONDS, CHECK_SECONDS, BUILD_SECONDS = 1800, 5400, 1200

BUNDLE = "/var/tmp/project.bundle"
CLONE = "git -c advice.detachedHead=false -c init.defaultBranch=main clone -q"
LISTS = "tools/packages-build.txt lab/packages.txt tests/packages.txt"
BUILD = "make all tests-build tracer-build fake-build fuzz-build pairs-build"
TOOLS = "apt-get install --yes --no-install-recommends g++ pkg-config meson cmake man-db bash-completion"
# What is there besides the user's own: python3 may write compiled modules of its own.
LISTED = r"find / -xdev \( -path /root -o -path /var -o -path /tmp -o -name __pycache__ \) -prune -o -print | sort"
# A program in C, which wants arguments, with the shared library and with the static one; and one in C++.
USED = " && ".join([
    "{0}/plus",
    "test $({0}/echo >&2; echo $?) = 2",
    "test $({0}/echo-static >&2; echo $?) = 2",
    "ldd {0}/echo | grep our_control",
    "! ldd {0}/echo-static | grep our_control",
])  # fmt: skip
USES = {
    ".": "make",
    "by-meson": "meson setup by-meson && ninja -C by-meson",
    "by-cmake": "cmake -B by-cmake && cmake --build by-cmake",
}
COMPLETED = """. /usr/share/bash-completion/bash_completion; _completion_loader rdma-by-example
COMP_WORDS=(rdma-by-example ping-sr-3 client --cou); COMP_CWORD=3; _rdma_by_example; test "${COMPREPLY[*]}" = --count"""
PAGES = "our_control our_post_send rdma-by-example rdma-by-example-ping-sr-3 verbs-trace"
INSTALLED = (
    "rdma-by-example ping-sr-3 client --version | grep -E ', commit [0-9a-f]{12}$'",
    f"for page in {PAGES}; do man $page | grep -A 2 NAME || exit; done",
    COMPLETED,
)
KEPT = ("var/lib/dpkg/status", "var/lib/apt/lists", "var/cache/apt/archives", "root/.cache")


class Skipped(Exception):
    """A scenario cannot be run; the text says why."""


class Newcomers:
    """The scenarios of one release. Roots are made in `place`; logs go to `logs`."""

    def __init__(self, release: str, tarball: Path, bundle: Path, place: Path, logs: Path) -> None:
        self.release = release
        self.tarball = tarball
        self.bundle = bundle
        self.place = place
        self.logs = logs
        self.debs = place / "debs"
        self.kernels = place / "kernels"
        self.debs.mkdir()
        self.root: Root | None = None
        self.demo_works = False
        self.project = "rdma"

    def run(self, name: str) -> None:
        """Runs a scenario; its log is there whatever comes of it."""
        if name in AFTER_DEMO and not self.demo_works:
            raise Skipped("make demo does not work")
        log = self.logs / f"{self.release}-{name}.log"
        log.unlink(missing_ok=True)
        if name not in AFTER_DEMO:
            self.remove_root()
            self.root = Root(self.place / "root", self.tarball, log)
        assert self.root
        self.root.log = log
        getattr(self, name)(self.root)

    def remove_root(self) -> None:
        """Removes the root that the last scenario has left."""
        if self.root:
            shutil.rmtree(self.root.path)
        self.root = None

    def clone(self, root: Root, project: str = "rdma") -> None:
        """Clones the tree into the user's home, with the root's own git."""
        self.project = project
        shutil.copy(self.bundle, root.path / BUNDLE[1:])
        root.must(f"{CLONE} {BUNDLE} {shlex.quote(project)}", 60)
        root.must(f"{self.cd()} git log -1 --oneline", 60)

    def cd(self) -> str:
        """The shell's way into the project."""
        return f"cd {shlex.quote(self.project)} &&"

    def see_demo(self, root: Root, network: bool = True) -> str:
        """`make demo` works; what it has printed."""
        status, text = root.run(f"{self.cd()} make demo", DEMO_SECONDS, network=network)
        raise_if(judge.of_demo(status, text))
        return text

    def demo(self, root: Root) -> None:
        """See SCENARIOS, here and below."""
        self.demo_works = False
        self.clone(root)
        root.must(f"{self.cd()} make -n check", 60)  # before any package is there
        self.see_demo(root)
        self.demo_works = True
        archives = root.path / "var/cache/apt/archives"
        for package in archives.glob("*.deb"):
            shutil.copy2(package, self.debs)
        (self.debs / "partial").mkdir(exist_ok=True)
        shutil.copytree(root.path / "root/.cache", self.kernels, dirs_exist_ok=True)

    def again(self, root: Root) -> None:
        before = judge.snapshot(root.path, *KEPT)
        text = self.see_demo(root)
        raise_if(judge.of_silence(text, judge.INSTALLS, judge.FETCHES))
        raise_if(judge.of_change(before, judge.snapshot(root.path, *KEPT)))

    def offline(self, root: Root) -> None:
        root.must(f"{self.cd()} make clean", 60)
        text = self.see_demo(root, network=False)
        raise_if(judge.of_silence(text, judge.INSTALLS, judge.FETCHES))

    def check(self, root: Root) -> None:
        status, text = root.run(f"{self.cd()} make check", CHECK_SECONDS)
        kept = self.logs / f"{self.release}-check"
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir()
        for file in (root.path / "root" / self.project / "build/tests").glob("*.xml"):
            shutil.copy(file, kept)
        raise_if(judge.of_sum("make check", status, text))
        text = root.must(f"{self.cd()} tools/packages --install {LISTS}", 600)
        raise_if(judge.of_silence(text, judge.INSTALLS))

    def sudo(self, root: Root) -> None:
        self.share(root)
        root.add_user(sudo=True)
        self.clone(root)
        self.see_demo(root)

    def user(self, root: Root) -> None:
        self.share(root)
        root.add_user(sudo=False)
        self.clone(root)
        status, text = root.run(f"{self.cd()} make demo", DEMO_SECONDS)
        command = judge.remedy(text)
        if not status:
            raise Trouble("make demo succeeds without its packages")
        if not command:
            raise Trouble(f"nothing says once what root is to run: {judge.last_line(text)}")
        root.must(f"yes | {{ {command}; }}", DEMO_SECONDS, as_root=True)
        raise_if(judge.of_silence(self.see_demo(root), judge.INSTALLS))

    def spaces(self, root: Root) -> None:
        self.share(root)
        if self.kernels.exists():
            shutil.copytree(self.kernels, root.path / "root/.cache", symlinks=True)
        self.clone(root, "my work/rdma by example")
        self.see_demo(root)
        root.must(f"{self.cd()} tools/packages --install {LISTS} && {BUILD}", BUILD_SECONDS)
        status, text = root.run(f"{self.cd()} /usr/bin/python3 -m pytest tests/unit", 300)
        raise_if(judge.of_sum("pytest tests/unit", status, text))

    def install(self, root: Root) -> None:
        self.share(root)
        self.clone(root)
        root.must(f"{self.cd()} tools/packages --install tools/packages-build.txt && {TOOLS}", 900)
        before = root.must(LISTED, 60)
        root.must(f"{self.cd()} make install && ldconfig && cp -r tests/installed/using ~ && rm -r ~/{self.project}", BUILD_SECONDS)
        root.must("cp /usr/local/share/doc/rdma-by-example/examples/echo_client.c using", 60)
        for built, build in USES.items():
            root.must(f"cd using && {build} && {USED.format(built)}", 300)
        for command in INSTALLED:
            root.must(command, 60)
        self.clone(root)
        root.must(f"{self.cd()} make uninstall && ldconfig", 60)
        left = set(root.must(LISTED, 60).splitlines()) ^ set(before.splitlines())
        if left:
            raise Trouble(f"make uninstall leaves or removes {', '.join(sorted(left)[:3])}")

    def share(self, root: Root) -> None:
        """Lets apt find the packages that other scenarios have downloaded."""
        (self.debs / "partial").mkdir(exist_ok=True)
        root.debs = self.debs


def raise_if(trouble: str | None) -> None:
    """Fails if a judgement is not None."""
    if trouble:
        raise Trouble(trouble)


def make_bundle(top: Path, path: Path) -> None:
    """Puts the commit that is checked out into a file to clone from."""
    git = ["git", "-C", str(top)]
    subprocess.run([*git, "bundle", "create", "-q", str(path), "HEAD"], check=True)
