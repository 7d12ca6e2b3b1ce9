# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The jail: another root, in the lab's guest, in which a submission is compiled and run.

Place: used by run_cases.py, as root. Contract: a program there runs as a user without rights. It sees /usr, read-only, and what
this module puts beside it: the sources while they are compiled, then the programs; devices and what describes them.
It has process ids and mounts of its own, and limits on processes, files and memory. What it writes to a stream is
kept as soon as it is written; nothing else that it wrote exists in the next case. Nothing of the project is there but the
tools that are loaded into its programs. Over the simulated device the partners run in a root of their own, as another user,
who can enter the jail; nobody can leave it.
"""

import os
import random
import shutil
import signal
import stat
import subprocess
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import IO

ROOT = Path("/run/submission")
PARTNERS = Path("/run/partners")  # the root of the partners over the simulated device
INSIDE = "submission"  # the jail's folder in the root of the partners
NOBODY = 65534
PARTNER = 65533
USERS = range(100_000, 2**31)  # user ids for cases
LONGEST = 2_000_000  # bytes of a stream that are kept
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/infiniband")
LOADED = ("rxe.driver", "siw.driver")  # libibverbs loads each library that is named in its folder, into each program
SHOWN = ("/usr", "/sys/class/infiniband", "/sys/class/infiniband_verbs",
         "/sys/class/misc", "/sys/class/net", "/sys/devices/virtual")  # fmt: skip
GROUP = Path("/sys/fs/cgroup/submission")
LIMITS = {"memory.max": "600M", "pids.max": "100"}  # limits for all processes in the jail together
COMPILES = ["--cpu=120", "--fsize=100000000"]
RUNS = ["--memlock=unlimited", "--fsize=50000000"]
SIMULATES = ["--fsize=2000000000"]  # the simulation's memory is a file, most of which is never written


def lend(names: Iterable[str], project: Path, root: Path = ROOT) -> None:
    """Copies files of the project into /work/project of a root."""
    for name in names:
        target = root / "work/project" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(project / name, target)


def show(source: Path, root: Path) -> None:
    """Makes a folder of this machine visible in a root, read-only."""
    target = root / source.relative_to("/")
    target.mkdir(parents=True)
    subprocess.run(["mount", "--bind", "-o", "ro", str(source), str(target)], check=True)


def add_device(path: Path, root: Path) -> None:
    """Makes a character device, or each in a folder, usable in a root."""
    if path.is_dir():
        for inner in path.iterdir():
            add_device(inner, root)
        return
    target = root / path.relative_to("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    os.mknod(target, stat.S_IFCHR, path.stat().st_rdev)
    target.chmod(0o666)


def make_root(root: Path, shown: Iterable[str], devices: Iterable[str]) -> None:
    """Makes an empty root."""
    root.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300m,mode=755", "tmpfs", str(root)], check=True)
    for name in ("bin", "lib", "lib64"):
        (root / name).symlink_to(os.readlink(f"/{name}"))
    for path in shown:
        show(Path(path), root)
    (root / "etc/libibverbs.d").mkdir(parents=True)
    for name in LOADED:
        shutil.copy(f"/etc/libibverbs.d/{name}", root / "etc/libibverbs.d")
    for path in devices:
        add_device(Path(path), root)
    for name in ("proc", "work"):
        (root / name).mkdir()
    (root / "tmp").mkdir()
    (root / "tmp").chmod(0o1777)


def prepare() -> None:
    """Makes the other roots, and the group of processes that has the limits. All of them together get the CPU time of one
    process outside: a submission that forks without end does not hold up the grader."""
    (GROUP.parent / "cgroup.subtree_control").write_text("+cpu +memory +pids")
    GROUP.mkdir()
    for name, limit in LIMITS.items():
        (GROUP / name).write_text(limit)
    make_root(ROOT, SHOWN, DEVICES)
    (ROOT / "etc/alternatives").mkdir()
    (ROOT / "etc/alternatives/cc").symlink_to(os.path.realpath("/usr/bin/cc"))
    make_root(PARTNERS, SHOWN[:1], DEVICES[:3])  # the real libraries, over the simulated kernel, look for their drivers
    (PARTNERS / INSIDE).mkdir()
    subprocess.run(["mount", "--rbind", str(ROOT), str(PARTNERS / INSIDE)], check=True)


def _apart(root: Path, network: bool, limits: list[str]) -> list[str]:
    """The beginning of a command: what follows has process ids and mounts of its own, and limits."""
    return [
        "sh", "-c", f'echo $$ >{GROUP}/cgroup.procs && exec "$@"', "sh",
        "unshare", "--mount", "--ipc", "--pid", *([] if network else ["--net"]), "--fork",
        f"--mount-proc={root}/proc", "prlimit", *limits, "--core=0",
    ]  # fmt: skip


def _words(words: Iterable[str], folder: str, settings: dict[str, str]) -> list[str]:
    """A command in a folder, with an environment of its own."""
    variables = {"LC_ALL": "C", "PATH": "/usr/bin", "CCACHE_DISABLE": "1", **settings}
    return ["env", "-i", f"--chdir={folder}", *(f"{name}={value}" for name, value in variables.items()), *words]


def begin_case() -> None:
    """Removes what the case before has left: processes and files. (Each case has another user, so no key of the kernel's is left.)"""
    (GROUP / "cgroup.kill").write_text("1")
    while (GROUP / "cgroup.procs").read_text():
        time.sleep(0.01)  # wait until the killed processes have ended
    for folder in (ROOT / "tmp", PARTNERS / "tmp"):
        if os.listdir(folder):  # a process costs more than a look
            subprocess.run(["find", str(folder), "-xdev", "-mindepth", "1", "-delete"], check=True)


def new_user() -> int:
    """A user for a case. The number says nothing of the case."""
    return random.SystemRandom().choice(USERS)


def cpu_seconds() -> float:
    """The processor time that all processes in the jail have used so far."""
    fields = dict(line.split() for line in (GROUP / "cpu.stat").read_text().splitlines())
    return int(fields["usage_usec"]) / 1e6


def confined(words: Iterable[str], folder: str, network: bool, limits: list[str], user: int = NOBODY, **settings: str) -> list[str]:
    """The command that runs a command in the jail, in one of its folders."""
    return [*_apart(ROOT, network, limits), "chroot", f"--userspec={user}:{user}", "--groups=", str(ROOT), *_words(words, folder, settings)]


def beside(words: Iterable[str], folder: str, user: int = NOBODY) -> list[str]:
    """The command that runs a command of the partners, in one of their folders, without a network. In a user namespace of its
    own, it is root there, and enters the jail as the user 1."""
    maps = f"0 {PARTNER} 1\\n1 {user} 1\\n"
    script = f"""mount -t proc -o hidepid=2 proc {PARTNERS}/{INSIDE}/proc || exit 125
        unshare --user --keep-caps sh -c 'until grep -q {user} /proc/self/uid_map; do :; done; exec "$@"' sh "$@" &
        until printf '{maps}' >{PARTNERS}/proc/$!/gid_map; do kill -0 $! || exit 125; done 2>/dev/null
        printf '{maps}' >{PARTNERS}/proc/$!/uid_map; wait $!"""
    root = ["chroot", "--userspec=0:0", "--groups=", str(PARTNERS)]
    return [*_apart(PARTNERS, False, SIMULATES), "sh", "-c", script, "sh", *root, *_words(words, folder, {})]


def kill(process: subprocess.Popen[bytes]) -> None:
    """Ends a command in the jail. With the first process of its namespace all others in it end. (What unshare's option
    --kill-child asks for does not help: the kernel forgets it when the user changes. See PR_SET_PDEATHSIG in prctl(2).)"""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    for pid in [*map(int, children), process.pid]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:  # the process has just ended
            pass


class Stream(threading.Thread):
    """Reads a pipe as it is written, so that nobody can change what was written."""

    def __init__(self, pipe: IO[bytes] | None) -> None:
        assert pipe
        super().__init__(daemon=True)
        self.pipe, self.kept = pipe, bytearray()
        self.start()

    def run(self) -> None:
        """Reads until no writer is left. Drops what is too long, so that the writer need not wait."""
        with self.pipe:
            while data := os.read(self.pipe.fileno(), 65536):
                self.kept += data[: LONGEST - len(self.kept)]

    def text(self) -> str:
        """All that was written, when no writer is left."""
        self.join()
        return self.kept.decode(errors="replace")


class Trace(Stream):
    """A named pipe in the jail, to which a program of the submission can only add."""

    def __init__(self, name: str) -> None:
        self.path = f"/work/{name}"  # the path inside of the jail
        path = ROOT / "work" / name
        os.mkfifo(path)
        path.chmod(0o622)
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.writer = os.open(path, os.O_WRONLY)  # without a writer, the pipe would end at once
        os.set_blocking(reader, True)
        super().__init__(open(reader, "rb"))

    def text(self) -> str:
        """All that was written. To be called once, when the program has ended."""
        (ROOT / self.path[1:]).unlink()
        os.close(self.writer)
        return super().text()


def compile_in(folder: Path, commands: list[list[str]], limit_s: float) -> tuple[int, str]:
    """Runs the commands in a folder of the jail that nobody may write to. Returns the exit status of the last one, and
    what the compiler said."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    end = time.monotonic() + limit_s
    status, said = 0, ""
    for words in commands:
        run = confined(words, f"/{folder.name}", False, COMPILES)
        process = subprocess.Popen(run, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        stream = Stream(process.stderr)
        try:
            status = process.wait(end - time.monotonic())
        except subprocess.TimeoutExpired:
            kill(process)
            status = process.wait()
            said += f"the compiler was still running after {limit_s:g} s\n"
        said += stream.text()
        if status:
            break
    return status, said


def build(tree: Path, commands: list[list[str]], programs: list[str], limit_s: float) -> tuple[int, str]:
    """Builds the programs in a copy of the tree, and puts them into /work. Returns an exit status, and what the compiler
    said."""
    copy = ROOT / "build"
    shutil.copytree(tree, copy, copy_function=shutil.copyfile)
    status, said = compile_in(copy, commands, limit_s)
    for name in programs if not status else []:
        (ROOT / "work" / name).parent.mkdir(exist_ok=True)
        shutil.copy(copy / name, ROOT / "work" / name, follow_symlinks=False)
    for rest in (copy, *(ROOT / "tmp").iterdir()):
        shutil.rmtree(rest) if rest.is_dir() else rest.unlink()
    return status, said
