# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The promises of lab/run to a command: its place, its streams, its end, its devices, a second host."""

import hashlib
import os
import re
import shlex
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from .conftest import FAILED, RUN, TOP, Lab

pytestmark = pytest.mark.long
WRONG = """
--
--nonsense -- true
--cpus -- true
--cpus 0 -- true
--cpus two -- true
--cpus 99999999999999999999 -- true
--memory 1 -- true
--timeout -1 -- true
--timeout 0 -- true
--hosts 3 -- true
--hosts 2 -- true
--hosts 2 -- true :::
--loss 5 -- true
--hosts 2 --loss 101 -- true ::: true
--hosts 2 --loss 5% -- true ::: true
--hosts 2 --delay x -- true ::: true
--hosts 2 --stdin -- true ::: true
--capture x.pcap -- true
--roce --iwarp -- true
--arch mips -- true
--env 9=x -- true
--writable /does/not/exist -- true
--console /does/not/exist -- true
--kernel
--kernel -- true
--kernel nonsense -- true
--kernel 6.12! -- true
--kernel ./6.12 -- true
--kernel /does/not/exist -- true
--kernel /etc/passwd -- true
--kernel=/does/not/exist.deb --list
--sources -- true
--sources /etc/passwd -- true
--sources /does/not/exist.sources -- true
--list true
--timeout
""".splitlines()
# The commands for two hosts. Host 1 serves on each address of $0, and tells host 2 over TCP when it listens, because rping
# hangs if it is refused. Host 2 connects to each, and then tells host 1 that it is done.
SERVER = """for a in $0; do rping -s -P -a $a & done
until [ $(rdma resource show cm_id | grep -c LISTEN) = $(echo $0 | wc -w) ]; do sleep 0.1; done
busybox nc -l -p 1111; busybox nc -l -p 2222; echo served"""
CLIENT = """set -- $0
until busybox nc $1 1111 </dev/null 2>/dev/null; do sleep 0.1; done
for a; do timeout 15 rping -c -a $a -C 5 || timeout 15 rping -c -a $a -C 5 || exit 1; done
until busybox nc $1 2222 </dev/null 2>/dev/null; do sleep 0.1; done; echo host $LAB_HOST; exit 5"""
AWAITS_LISTENER = "until rdma resource show cm_id | grep -q LISTEN; do sleep 0.1; done"


@pytest.mark.parametrize("words", WRONG)
def test_wrong_usage(lab: Lab, words: str) -> None:
    """The lab prints one sentence, and nothing else."""
    said = lab.run(*words.split(), status=2)
    assert said.err.count("\n") == 1 and not said.out


def test_variables_and_help(lab: Lab) -> None:
    """A wrong variable is wrong usage, unless an option replaces it."""
    for name in ("LAB_ACCEL", "LAB_KERNEL", "LAB_SOURCES"):
        lab.run("--", "true", status=2, under=("env", f"{name}=abacus"))
    lab.run("--kernel", "default", "--list", under=("env", "LAB_KERNEL=abacus"))
    assert lab.run("--help").out.startswith("usage:")
    assert lab.run("--list").out.startswith("accelerator")


def test_exit_status(lab: Lab) -> None:
    """The exit status is the command's."""
    lab.sh("exit 7", status=7)
    lab.sh("kill -TERM $$", status=143)
    assert not lab.run("--", "no-such-program", status=127).out


def test_streams(lab: Lab) -> None:
    """10 MB of any bytes arrive as they are; without --stdin there is no input."""
    script = "for i in 1 2 3 4 5 6 7 8 9; do cat /bin/bash; done; echo to-stderr >/dev/stderr; printf 'a\\r\\n\\0b'; wc -c"
    said = lab.run("--", "sh", "-c", script, given=b"unwanted")
    wanted = 9 * Path("/bin/bash").read_bytes() + b"a\r\n\0b0\n"
    assert hashlib.sha256(said.out.encode("latin-1")).digest() == hashlib.sha256(wanted).digest()
    assert said.err == "to-stderr\n"


def test_standard_input(lab: Lab) -> None:
    """Standard input arrives as it is."""
    given = Path("/bin/bash").read_bytes()[:100000]
    assert lab.run("--stdin", "--", "cat", given=given).out.encode("latin-1") == given


def test_place(lab: Lab) -> None:
    """The guest has the same directory, devices, memory that may be locked, a log of the kernel, and places to write to."""
    lab.dir = lab.dir / "a b"
    lab.dir.mkdir()
    said = lab.sh(
        "pwd; id -u; hostname; ls /dev/infiniband /dev/shm /dev/pts; ulimit -l; cat /proc/1/comm; ip -o link show lo; "
        ": >/dev/shm/x; : >/tmp/x; : >$HOME/x; dmesg | grep -c Linux"
    )
    assert said.out.startswith(f"{lab.dir}\n")
    assert all(word in said.out for word in ("uverbs0", "rdma_cm", "unlimited", "UP"))


def test_environment(lab: Lab) -> None:
    """The command gets the variables of --env and of the lab; and a clock that it reads without a system call."""
    options = ("--env", "FROM_CALLER", "--env", "SET=a b", "--env", "NOT_THERE")
    script = "env; cat /sys/devices/system/clocksource/clocksource0/current_clocksource"
    lab.env |= {"FROM_CALLER": "1", "NOT_PASSED": "1"}
    lines = lab.sh(script, *options).out.splitlines()
    assert lines[-1] == "tsc"
    assert {"FROM_CALLER=1", "SET=a b", "LAB_GUEST=1", "LAB_ROCE_DEV=rxe0", "LAB_IWARP_DEV=siw0"} <= {*lines}
    assert not [line for line in lines if line.startswith("NOT_")]


def test_writable(lab: Lab) -> None:
    """The guest may write to this directory, or what --writable names."""
    here, there = lab.dir / "here", lab.dir / "there"
    here.mkdir()
    there.mkdir()
    lab.dir = here
    lab.sh("echo result >file; mkdir dir; ! touch /usr/file; ! touch ../there/file")
    assert (here / "file").read_text() == "result\n" and (here / "dir").is_dir()
    lab.sh("echo result >../there/file; ! touch other", "--writable", "../there")
    assert (there / "file").read_text() == "result\n"


def test_timeout(lab: Lab) -> None:
    """The limit ends the machine."""
    lab.run("--timeout", "8", "--", "sleep", "1000", status=124).has("did not end")
    lab.is_gone()


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt(lab: Lab, number: signal.Signals, status: int) -> None:
    """The command hears of the interrupt, and may still print its statistics."""
    process = lab.start("trap 'echo statistics; exit 9' INT TERM; echo started; while :; do sleep 0.1; done")
    process.send_signal(number)
    assert process.wait(60) == status, lab.log.read_text()
    assert "statistics" in lab.log.read_text()
    lab.is_gone()


def test_an_interrupt_that_is_ignored(lab: Lab) -> None:
    """The lab ends anyway, and leaves nothing."""
    wait = ("timeout", "--preserve-status", "9")
    lab.run("--", "sh", "-c", "trap '' INT TERM; sleep 1000", status=143, under=wait)
    lab.is_gone()
    assert not list(lab.dir.glob("rdma-lab-*"))


def test_a_lab_that_is_killed(lab: Lab) -> None:
    """The machine ends with the lab, and the next lab removes its files."""
    process = lab.start("echo started; sleep 1000")
    process.kill()
    process.wait()
    lab.is_gone()
    lab.sh("true")
    assert not list(lab.dir.glob("rdma-lab-*"))


def test_the_lab_of_a_container(lab: Lab) -> None:
    """A container has process ids of its own, and its lab leaves the files of others alone."""
    process = lab.start("echo started; sleep 1000")
    lab.run("--", "true", under="unshare --user --map-current-user --pid --fork --mount-proc".split())
    assert list(lab.dir.glob("rdma-lab-*"))
    process.terminate()
    lab.is_gone()


def test_a_machine_that_is_killed(lab: Lab) -> None:
    """The lab says that the machine ended."""
    process = lab.start("echo started; sleep 1000")
    for pid in lab.machines():
        os.kill(pid, signal.SIGKILL)
    assert process.wait(60) == FAILED
    assert re.search("^lab: .*QEMU was killed", lab.log.read_text(), re.MULTILINE)


def test_a_kernel_that_panics(lab: Lab) -> None:
    """The end of the console's log is shown, and --console saves all of it."""
    said = lab.sh("echo c >/proc/sysrq-trigger; sleep 60", "--console", "console", status=FAILED)
    said.has("kernel panicked")
    said.has(r"\| .*sysrq")
    assert "Kernel panic" in (lab.dir / "console").read_text(errors="replace")


def test_a_panic_during_the_boot(lab: Lab) -> None:
    """The lab boots again: the first machine gets a kernel that finds no program to start."""
    panicked = lab.dir / "panicked"
    change = 'set -- "${@/quiet/rdinit=/none init=/none}"'
    lab.program("qemu-system-x86_64", f'#!/bin/bash\nif mkdir {panicked} 2>/dev/null; then {change}; fi\nexec {{real}} "$@"\n')
    assert lab.sh("echo ran; exit 3", status=3).out == "ran\n"
    assert panicked.exists()


def test_a_reader_that_leaves(lab: Lab) -> None:
    """The machine ends with its reader."""
    with subprocess.Popen([RUN, "--", "yes"], cwd=lab.dir, env=lab.env, stdout=subprocess.PIPE) as process:
        assert process.stdout and process.stdout.readline() == b"y\n"
        process.stdout.close()
    lab.is_gone()


def test_two_at_once(lab: Lab) -> None:
    """Each of them has its own output and status."""
    with ThreadPoolExecutor() as pool:
        assert [*pool.map(lambda n: lab.sh(f"sleep 1; echo {n}; exit {n}", status=n).out, (3, 4))] == ["3\n", "4\n"]


def test_another_processor(lab: Lab) -> None:
    """Programs of arm64, from Debian, on both devices; and what the guest writes is here."""
    said = lab.sh(
        f"""uname -m; for a in $LAB_ROCE_ADDR $LAB_IWARP_ADDR; do
        rping -s -a $a -C 5 & server=$!; {AWAITS_LISTENER}
        rping -c -a $a -C 5 && wait $server && echo done >>written; done""",
        "--arch=arm64",
    )
    assert said.out == "aarch64\n" and (lab.dir / "written").read_text() == "done\ndone\n"


@pytest.mark.parametrize("one, other", [("ROCE", "siw0|IWARP"), ("IWARP", "rxe0|ROCE")])
def test_one_device(lab: Lab, one: str, other: str) -> None:
    """rping from the guest to itself, over IPv4 and IPv6; and there is no other device."""
    said = lab.sh(
        f"""env; ibv_devices; for a in $LAB_{one}_ADDR $LAB_{one}_ADDR6; do
        rping -s -a $a -C 5 & server=$!; {AWAITS_LISTENER}
        rping -c -a $a -C 5 || exit 1
        wait $server || exit 2; echo done; done""",
        f"--{one.lower()}",
    )
    assert said.out.splitlines().count("done") == 2
    assert not re.search(other, said.out)


def test_early_leavers(lab: Lab) -> None:
    """TCP connections that are closed at once do not end a soft-iWARP listener: patch_early_end and patch_accept in
    lab/lib/siw.sh."""
    script = f"""rping -s -a $LAB_IWARP_ADDR -C 5 & server=$!; {AWAITS_LISTENER}
        for n in {{1..100}}; do : <>/dev/tcp/$LAB_IWARP_ADDR/7174 || exit 1; done
        timeout 15 rping -c -a $LAB_IWARP_ADDR -C 5 && wait $server"""
    lab.run("--iwarp", "--", "bash", "-c", script)


def test_two_hosts(lab: Lab) -> None:
    """The hosts reach each other over both devices, IPv4 and IPv6."""
    addresses = "192.0.2.1 198.51.100.1 2001:db8:1::1 2001:db8:2::1"
    commands = ("--", "sh", "-c", SERVER, addresses, ":::", "sh", "-c", CLIENT, addresses)
    said = lab.run("--hosts", "2", *commands, status=5)
    assert {"1| served", "2| host 2"} <= {*said.out.splitlines()}, said
    lab.is_gone()


def test_a_bad_link(lab: Lab) -> None:
    """The link has loss and delay, and a capture shows what it carried."""
    options = shlex.split("--hosts 2 --roce --delay 20 --loss 0.5 --capture link.pcap --no-prefix")
    server = f"tc qdisc show dev roce0; {SERVER}"
    said = lab.run(*options, "--", "sh", "-c", server, "192.0.2.1", ":::", "sh", "-c", CLIENT, "192.0.2.1", status=5)
    assert re.search("netem.*delay 20ms.*loss 0.5%", said.out)
    show = ["tcpdump", "-nr", str(lab.dir / "link.pcap"), "udp", "port", "4791"]
    assert subprocess.run(show, capture_output=True, check=True).stdout.count(b"\n") > 10


def test_terminal(lab: Lab) -> None:
    """lab/shell has a terminal; what is typed before the guest reads is lost."""
    type_it = "for _ in $(seq 60); do sleep 1; printf 'tty; exit 5\\r' || exit 0; done"
    both = f"{type_it} | script -qec {TOP}/lab/shell /dev/null"
    done = subprocess.run(["bash", "-c", both], cwd=lab.dir, env=lab.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 5 and b"/dev/hvc0" in done.stdout, done.stdout


def test_devices_without_a_module(lab: Lab) -> None:
    """devices --check names the module that is not loaded, and the remedy; a guest could not load it again."""
    said = lab.sh(f"rmmod rdma_ucm; {TOP}/tools/devices/devices --check $LAB_ROCE_ADDR 2>&1", "-q", status=1)
    failed = [line for line in said.out.splitlines() if line.startswith("FAILS")]
    assert re.match(r"FAILS +CM .*the module rdma_ucm is not loaded", failed[0]), said.out
    assert re.match("remedy: .*modprobe rdma_ucm", said.out.splitlines()[-1]), said.out


def test_the_doctor_boots_it() -> None:
    """make doctor judges the lab; tests/house/test_doctor.py has its other lines."""
    said = subprocess.run(["tools/doctor"], cwd=TOP, capture_output=True, text=True, timeout=300, check=False).stdout
    assert re.search(r"^ok +lab +boots, and has rxe0 ", said, re.MULTILINE), said
