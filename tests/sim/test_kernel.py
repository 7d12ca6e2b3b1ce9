# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The simulated kernel below the real libraries of this machine: its files, descriptors and commands."""

from __future__ import annotations

import errno
import re
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from live.table import STAGES
from sim.simulation import ADDRESS, TOP, TRANSPORTS, Run, counter_traps, pair, simulate

PINGPONGS = {name: [f"ibv_{name}_pingpong"] for name in ("rc", "uc", "ud", "srq")} | {"rc-events": ["ibv_rc_pingpong", "-e"]}
PING_SR_4 = pair(next(stage for stage in STAGES if stage.name == "ping-sr-4"), 2)
PING_SR_3 = pair(next(stage for stage in STAGES if stage.name == "ping-sr-3"), 30)


def run_over_kernel(programs: list[list[str]], *options: str) -> Run:
    """Runs the programs over the simulated kernel. Nothing that the libraries ask may be missing."""
    run = simulate(programs, *options)
    assert not run.missing, run.why()
    return run


@pytest.fixture
def python(tmp_path: Path) -> Callable[[str], list[str]]:
    """Starts a Python program of these lines."""

    def program(text: str) -> list[str]:
        file = tmp_path / f"{len(list(tmp_path.iterdir()))}.py"
        file.write_text(text)
        return ["/usr/bin/python3", "-S", str(file)]

    return program


def both_sides(name: str) -> list[list[str]]:
    """A pair of ibverbs-utils."""
    words = PINGPONGS[name]
    if not shutil.which(words[0]):
        pytest.skip(f"{words[0]} is not there: ibverbs-utils")
    words = [*words, *("-g", "1", "-n", "100")]
    return [words, [*words, "127.0.0.1"]]


# ---- Programs ----


@pytest.mark.parametrize("name", PINGPONGS)
def test_pingpongs(name: str) -> None:
    run = run_over_kernel(both_sides(name))
    assert not run.exit and run.out.count("100 iters in") == 2, run.why()


@pytest.mark.parametrize(
    "programs, options",
    [(PING_SR_3, []), (PING_SR_3, ["--iwarp"]), (both_sides("srq"), [])],
    ids=["ping-sr-3-RoCE", "ping-sr-3-iWARP", "ibv_srq_pingpong"],
)
def test_the_same_seed_is_the_same_run_on_a_busy_machine(programs: list[list[str]], options: list[str]) -> None:
    """Sixteen runs at a time are more than there are processors."""
    seeds = [str(seed) for seed in range(1, 9) for _ in "abcd"]
    with ThreadPoolExecutor(16) as pool:
        runs = list(pool.map(lambda seed: run_over_kernel(programs, *options, "--seed", seed), seeds))
    hashes = {(seed, run.hash) for seed, run in zip(seeds, runs, strict=True)}
    assert len(hashes) == 8 and len({one for _, one in hashes}) == 8, sorted(hashes)


def test_a_library_that_is_opened_later(python: Callable[[str], list[str]]) -> None:
    """NCCL, NVSHMEM and UCX open it so: nothing of it is known when the program begins."""
    run = run_over_kernel(
        [
            python(
                "import ctypes\n"
                "verbs = ctypes.CDLL('libibverbs.so.1')\n"
                "verbs.ibv_get_device_list.restype = ctypes.c_void_p\n"
                "n = ctypes.c_int()\n"
                "verbs.ibv_get_device_list(ctypes.byref(n))\n"
                "print(n.value)"
            )
        ]
    )
    assert not run.exit and run.out == "1\n", run.why()


def test_a_call_of_librdmacm_is_not_the_programs() -> None:
    """librdmacm creates the QP of a cm_id by ibv_create_qp."""
    assert not run_over_kernel(PING_SR_3, "--fail", "1:ibv_create_qp:1").fault
    assert run_over_kernel(PING_SR_3, "--fail", "1:rdma_create_qp:1").fault.startswith("rdma_create_qp failed")


def test_a_command_of_a_library_that_is_opened_later_fails(python: Callable[[str], list[str]]) -> None:
    """The library's functions are called by their addresses, and nothing stands in front of them."""
    text = (
        "import ctypes\n"
        "verbs = ctypes.CDLL('libibverbs.so.1', use_errno=True)\n"
        "verbs.ibv_get_device_list.restype = verbs.ibv_open_device.restype = ctypes.c_void_p\n"
        "verbs.ibv_alloc_pd.restype = ctypes.c_void_p\n"
        "devices = ctypes.cast(verbs.ibv_get_device_list(None), ctypes.POINTER(ctypes.c_void_p))\n"
        "context = ctypes.c_void_p(verbs.ibv_open_device(ctypes.c_void_p(devices[0])))\n"
        "print(verbs.ibv_alloc_pd(context), ctypes.get_errno())"
    )
    run = run_over_kernel([python(text)], "--fail", "0:ALLOC_PD:1:EPERM")
    assert run.out == f"None {errno.EPERM}\n" and run.fault.startswith("ALLOC_PD failed"), run.why()
    assert not run_over_kernel([python(text)], "--fail", "0:ibv_alloc_pd:1").fault


def test_a_trace_shows_calls_and_below_them_commands() -> None:
    """The trace shows them with arguments, and the number of what is counted."""
    lines = [line.partition("] ")[2] for line in run_over_kernel(PING_SR_4, "--trace").err.splitlines()]
    listens = next(number for number, line in enumerate(lines) if line.startswith("0.0") and "rdma_listen(backlog " in line)
    before, after = (int(line.split()[1]) for line in lines[listens : listens + 2])
    assert lines[listens + 1].endswith("   LISTEN") and after == before + 1, lines[listens : listens + 2]


def test_multicast() -> None:
    client, server = (f"beyond/mcast-ud-0/{side} 224.1.2.3 {ADDRESS}".split() for side in ("client", "server"))
    for seed in "123":
        run = run_over_kernel([client, [*server, "3"]], "--seed", seed)
        assert run.statuses == [0, 0] and run.left == "nothing", run.why()


def test_what_is_left_over() -> None:
    run = run_over_kernel([["build/tests/sim/programs", "forget"]])
    assert run.left == "1 cm_id of program 0, 1 event channel of program 0", run.why()


@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
def test_a_trace(transport: list[str]) -> None:
    """verbs-trace asks for functions of libc by their versions. With --trace, what goes through shared queues is shown, too."""
    programs = [["tools/verbs-trace/verbs-trace", "-e", "none", *program] for program in PING_SR_4]
    run = run_over_kernel(programs, *transport, "--trace")
    assert not run.exit, run.why()
    for said in ("ibv_post_recv", "ibv_poll_cq", "= request 1 of a chain: 64 bytes", "= completion RECV, status 0"):
        assert said in run.err, said


# ---- Commands ----


def test_a_queue_has_the_room_of_its_ring() -> None:
    """The sizes are soft-RoCE's in the lab: powers of two, less one."""
    run = run_over_kernel([["build/tests/sim/programs", "room"]])
    assert not run.exit and run.out == "15 31 7 15 31\n", run.why()


def test_there_is_no_memory_for_a_queue() -> None:
    run = run_over_kernel([["build/tests/sim/programs", "fill"]])
    assert not run.exit and run.out == "ENOMEMENOMEM" and run.left == "nothing", run.why()


def test_a_program_that_is_executed_begins_with_the_real_counter(python: Callable[[str], list[str]]) -> None:
    """The dynamic linker of Debian 13 reads the counter before anything can handle the signal. 1: PR_TSC_ENABLE."""
    if not counter_traps():
        pytest.skip("this machine shows real time to programs that read the processor's counter")
    ask = "import ctypes; tsc = ctypes.c_int(); ctypes.CDLL(None).prctl(25, ctypes.byref(tsc)); print(tsc.value, flush=True)"
    words = f"('/usr/bin/python3', ['python3', '-S', '-c', {ask!r}]"
    text = (
        "import ctypes, os\n"
        "verbs = ctypes.CDLL('libibverbs.so.1')\n"
        "verbs.ibv_get_device_list.restype = verbs.ibv_open_device.restype = ctypes.c_void_p\n"
        "devices = ctypes.cast(verbs.ibv_get_device_list(None), ctypes.POINTER(ctypes.c_void_p))\n"
        "context = verbs.ibv_open_device(ctypes.c_void_p(devices[0]))\n"
        "try:\n"
        "    os.execv('/missing', ['missing'])\n"
        "except OSError:\n"
        f"    {ask.replace('; ', chr(10) + '    ')}\n"
        f"os.waitpid(os.posix_spawn{words}, os.environ), 0)\n"
        "if not os.fork():\n"
        f"    os.execv{words})\n"
        "os.wait()\n"
        "verbs.ibv_close_device(ctypes.c_void_p(context))\n"
        f"os.execve{words}, os.environ)"
    )
    run = run_over_kernel([python(text)])
    assert not run.exit and run.out == "2\n1\n1\n1\n", run.why()


def test_a_child_closes_what_its_parent_goes_on_with(python: Callable[[str], list[str]]) -> None:
    text = (
        "import ctypes, os\n"
        "cm = ctypes.CDLL('librdmacm.so.1')\n"
        "cm.rdma_create_event_channel.restype = ctypes.c_void_p\n"
        "channel, id = ctypes.c_void_p(cm.rdma_create_event_channel()), ctypes.c_void_p()\n"
        "cm.rdma_create_id(channel, ctypes.byref(id), None, 0x106)\n"
        "libc, fd = ctypes.CDLL(None), ctypes.cast(channel, ctypes.POINTER(ctypes.c_int))[0]\n"
        "if not os.fork():\n"
        "    libc.close(libc.dup(fd))\n"
        "    cm.rdma_destroy_event_channel(channel)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
        "print(cm.rdma_bind_addr(id, b'\\2' + bytes(15)), cm.rdma_listen(id, 1))\n"
        "cm.rdma_destroy_id(id)\n"
        "cm.rdma_destroy_event_channel(channel)"
    )
    run = run_over_kernel([python(text)])
    assert not run.exit and run.out == "0 0\n", run.why()


def test_only_what_a_program_opens_is_left_over(python: Callable[[str], list[str]]) -> None:
    """librdmacm keeps a context of each device."""
    text = (
        "import ctypes\n"
        "verbs, cm = ctypes.CDLL('libibverbs.so.1'), ctypes.CDLL('librdmacm.so.1')\n"
        "verbs.ibv_get_device_list.restype = verbs.ibv_open_device.restype = ctypes.c_void_p\n"
        "cm.rdma_get_devices.restype = ctypes.c_void_p\n"
        "cm.rdma_free_devices(ctypes.c_void_p(cm.rdma_get_devices(None)))\n"
    )
    opens = "verbs.ibv_open_device(ctypes.c_void_p(ctypes.cast(verbs.ibv_get_device_list(None), ctypes.POINTER(ctypes.c_void_p))[0]))\n"
    assert run_over_kernel([python(text)]).left == "nothing"
    assert run_over_kernel([python(text + opens)]).left == "1 context of program 0"


@pytest.mark.parametrize("file, kind", [("uverbs0", "uverbs"), ("rdma_cm", "rdma_cm")])
def test_a_command_that_is_not_simulated(python: Callable[[str], list[str]], file: str, kind: str) -> None:
    """Such a command ends as with an older kernel, and is named at the end of the run, once."""
    text = (
        "import os, struct\n"
        f"fd = os.open('/dev/infiniband/{file}', os.O_RDWR)\n"
        "for _ in range(2):\n"
        "    try:\n"
        "        os.write(fd, struct.pack('=IHHQ', 99, 4, 0, 0))\n"
        "    except OSError as error:\n"
        "        print(error.errno)\n"
        "os.close(fd)"
    )
    run = simulate([python(text)])
    assert not run.exit and run.out == f"{errno.EOPNOTSUPP}\n" * 2 and run.missing == f"{kind} command 99", run.why()


def test_each_command_has_a_name_that_can_fail() -> None:
    """Including the first and the last of both tables."""
    tables = "".join((TOP / f"tools/verbs-sim/kernel/{name}.c").read_text() for name in ("uverbs", "ucma"))
    names = re.findall(r"^\t(?:COMMAND|ASKS|TELLS)\((\w+)", tables, re.MULTILINE)
    run = simulate([["true"]], *(word for name in names for word in ("--fail", f"0:{name}:1")))
    assert len(names) > 40 and run.exit not in (2, 125), run.why()


def test_a_duplicate_of_a_descriptor(python: Callable[[str], list[str]]) -> None:
    """The duplicate is a device, too, and stays open when the first descriptor is closed."""
    text = (
        "import fcntl, os, stat\n"
        "fd = os.open('/dev/infiniband/uverbs0', os.O_RDWR)\n"
        "copies = [os.dup(fd), fcntl.fcntl(fd, fcntl.F_DUPFD, 20)]\n"
        "os.close(fd)\n"
        "for copy in copies:\n"
        "    print(stat.S_ISCHR(os.fstat(copy).st_mode))\n"
        "    try:\n"
        "        print(os.write(copy, b'1234'))\n"
        "    except OSError as error:\n"
        "        print(error.errno)\n"
        "    os.close(copy)"
    )
    run = run_over_kernel([python(text)])
    assert run.out == f"True\n{errno.EINVAL}\n" * 2, run.why()


def test_a_request_that_is_too_short(python: Callable[[str], list[str]]) -> None:
    text = (
        "import os, struct\n"
        "fd = os.open('/dev/infiniband/uverbs0', os.O_RDWR)\n"
        "try:\n"
        "    os.write(fd, struct.pack('=IHH', 9, 2, 0))\n"
        "except OSError as error:\n"
        "    print(error.errno)"
    )
    run = run_over_kernel([python(text)])
    assert run.out == f"{errno.EINVAL}\n", run.why()


# ---- Files ----

WALK = (
    "import os, stat\n"
    "for top in ('/sys/class/infiniband', '/sys/class/infiniband_verbs', '/sys/class/misc/rdma_cm', '/dev/infiniband'):\n"
    "    for folder, _, names in os.walk(top):\n"
    "        for name in sorted(names):\n"
    "            path = os.path.join(folder, name)\n"
    "            mode, number = os.stat(path).st_mode, os.stat(path).st_rdev\n"
    "            try:\n"
    "                print(path, open(path).read().strip() if stat.S_ISREG(mode) else f'{os.major(number)}:{os.minor(number)}')\n"
    "            except OSError as error:\n"
    "                print(path, error.strerror)"
)


def test_files(python: Callable[[str], list[str]]) -> None:
    """A program that looks by itself finds these files."""
    found = dict(line.split(" ", 1) for line in run_over_kernel([python(WALK)]).out.splitlines())
    port = "/sys/class/infiniband/rxe0/ports/1"
    assert found["/sys/class/infiniband_verbs/abi_version"] == "6"
    assert found["/sys/class/infiniband_verbs/uverbs0/ibdev"] == "rxe0"
    assert found["/sys/class/infiniband/rxe0/node_type"] == "1: CA"
    assert found[f"{port}/state"] == "4: ACTIVE"
    assert found[f"{port}/gids/1"] == "0000:0000:0000:0000:0000:ffff:c000:0201"
    assert found[f"{port}/gid_attrs/types/1"] == "RoCE v2"
    assert found[f"{port}/gids/1023"] == "0000:0000:0000:0000:0000:0000:0000:0000"
    assert found[f"{port}/gid_attrs/types/1023"] == "Invalid argument"
    assert f"{port}/gids/1024" not in found
    numbers = {path: text for path, text in found.items() if path.startswith("/dev/")}
    assert numbers == {f"/dev/infiniband/{name}": found[f"/sys/class/{of}/{name}/dev"] for name, of in (("rdma_cm", "misc"), ("uverbs0", "infiniband_verbs"))}


def test_each_host_has_its_files(python: Callable[[str], list[str]]) -> None:
    devices = ["--device", "roce,host=0,name=left", "--device", "roce,host=1,name=right,port=down/4096"]
    text = "import os\nprint(os.listdir('/sys/class/infiniband'), os.listdir('/dev/infiniband'), os.path.exists('/sys/class/infiniband/right'))"
    run = run_over_kernel([python(text), python(text)], *devices)
    assert run.out.splitlines() == ["['left'] ['uverbs0', 'rdma_cm'] False", "['right'] ['uverbs1', 'rdma_cm'] True"], run.why()


def test_ibv_devinfo() -> None:
    if not shutil.which("ibv_devinfo"):
        pytest.skip("ibv_devinfo is not there: ibverbs-utils")
    devices = ["--device", "roce,address=198.51.100.7,port=active/4096", "--device", "roce,name=other,host=1"]
    said = " ".join(run_over_kernel([["ibv_devinfo", "-v"]], *devices).out.split())
    assert "hca_id: rxe0" in said and "other" not in said
    assert "active_mtu: 4096 (5)" in said and "max_qp_wr: 1048576" in said
    assert "GID[ 1]: ::ffff:198.51.100.7, RoCE v2" in said and "GID[ 2]" not in said


def test_a_connection_by_an_address_that_no_device_serves() -> None:
    run = run_over_kernel(PING_SR_3, "--device", "roce,address=198.51.100.7")
    assert run.statuses[1] == 1 and "No such device" in run.err, run.why()
    assert ADDRESS in run.err
