# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Bare root file systems: made once with mmdebstrap, kept as archives, and unpacked for each scenario.

Commands in a root run in namespaces of their own, with all processes that they start. These end with the command, or
when its time is over.
"""

import os
import shlex
import signal
import subprocess
import time
from pathlib import Path

from newcomer import judge

HERE = Path(__file__).resolve().parent
USER = "newcomer"
FRESH_DAYS = 14
ROOT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
USER_PATH = "/usr/local/bin:/usr/bin:/bin"
PROXIES = ("http_proxy", "https_proxy", "no_proxy")
NAMESPACES = ["--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child"]


class Trouble(Exception):
    """A scenario has failed; the text says why."""


def archive(cache: Path, release: str, fresh: bool, log: Path) -> Path:
    """The archive of a release's bare root, with git and make; made anew when it is old."""
    path = cache / f"{release}.tar"
    age = time.time() - path.stat().st_mtime if path.exists() else None
    if not fresh and age is not None and age < FRESH_DAYS * 86400:
        return path
    making = cache / f"{release}.{os.getpid()}.tar"
    command = ["mmdebstrap", "--variant=minbase", "--include=git,make", release, str(making)]
    try:
        with log.open("wb") as output:
            ended = subprocess.run(
                command + judge.sources(release),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                timeout=1200,
                check=False,
            )
        if ended.returncode:
            raise Trouble(f"mmdebstrap: {judge.first_error(log.read_text(errors='replace'))}")
        making.rename(path)
    except subprocess.TimeoutExpired as late:
        raise Trouble("mmdebstrap did not end in 1200 s") from late
    finally:
        making.unlink(missing_ok=True)
    return path


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends the namespaces of an unshare(1) by their first process; returns when they are gone."""
    if process.poll() is None:
        for pid in children(process.pid):
            os.kill(pid, signal.SIGKILL)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Root:
    """A directory with a bare root, and what runs in it."""

    def __init__(self, path: Path, tarball: Path, log: Path) -> None:
        self.path = path
        self.log = log
        self.debs: Path | None = None  # apt's cache of packages, shared with other roots
        path.mkdir()
        subprocess.run(["tar", "-C", str(path), "--numeric-owner", "-xf", str(tarball)], check=True)
        for name, text in (
            ("resolv.conf", Path("/etc/resolv.conf").read_text()),
            ("hosts", "127.0.0.1 localhost bare\n::1 localhost\n"),
        ):
            (path / "etc" / name).unlink(missing_ok=True)
            (path / "etc" / name).write_text(text)
        self.home = "/root"
        self.user: str | None = None

    def add_user(self, sudo: bool) -> None:
        """From here on, commands run as an ordinary user; with sudo, one who may become root."""
        self.must(f"useradd --create-home --shell /bin/bash {USER}", 60)
        if sudo:
            self.must("apt-get update && apt-get install --yes --no-install-recommends sudo", 600)
            rule = self.path / "etc/sudoers.d" / USER
            rule.write_text(f"{USER} ALL=(ALL) NOPASSWD: ALL\n")
            rule.chmod(0o440)
        self.user, self.home = USER, f"/home/{USER}"

    def words(self, script: str, as_root: bool) -> list[str]:
        """The command that runs a script in the root as it would be run by the user."""
        user = None if as_root else self.user
        path, home = (USER_PATH, self.home) if user else (ROOT_PATH, "/root")
        settings = [f"PATH={path}", f"HOME={home}", f"USER={user or 'root'}"]
        settings += [f"{name}={os.environ[name]}" for name in PROXIES if name in os.environ]
        become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"] if user else []
        return [*become, "env", "-i", *settings, "bash", "-c", f"cd {shlex.quote(home)}; {script}"]

    def run(
        self, script: str, seconds: int, as_root: bool = False, network: bool = True
    ) -> tuple[int, str]:
        """Runs a shell script; its exit status and what it prints, which goes to the log, too."""
        namespaces = NAMESPACES if network else [*NAMESPACES, "--net"]
        command = ["setpriv", "--pdeathsig", "KILL", "unshare", *namespaces]
        command += [str(HERE / "enter"), str(self.path), str(self.debs or "")]
        with self.log.open("ab") as output:
            output.write(f"$ {script}\n".encode())
            output.flush()
            begin = output.tell()
            process = subprocess.Popen(
                command + self.words(script, as_root),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                status = process.wait(seconds)
            except subprocess.TimeoutExpired as late:
                raise Trouble(f"{script}: did not end in {seconds} s") from late
            finally:
                end(process)
        with self.log.open("rb") as written:
            written.seek(begin)
            return status, written.read().decode(errors="replace")

    def must(self, script: str, seconds: int, as_root: bool = False) -> str:
        """Runs what has to succeed."""
        status, text = self.run(script, seconds, as_root)
        if status:
            raise Trouble(f"{script}: exit status {status}: {judge.last_line(text)}")
        return text
