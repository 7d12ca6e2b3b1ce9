# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""tools/devices/devices: compares its output with that of ibv_devinfo, rdma, ip and the kernel; and --check with each thing
broken that can be broken in a guest of the lab.
"""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from live.processes import until
from tools.place import IN_GUEST

pytestmark = pytest.mark.skipif(not IN_GUEST, reason="it breaks what it tests: only in a guest of the lab")
PROGRAM = "tools/devices/devices"
LIMIT = 60  # seconds that any command may take
PORT = "20999"
ROCE = os.environ.get("LAB_ROCE_ADDR", "")
IWARP = os.environ.get("LAB_IWARP_ADDR", "")
UNKNOWN = {"MTU", "firewall", "peer"}  # steps that --check can never judge
MODES = {"RoCE v1", "RoCE v2", "IB"}


def expect(condition: object, what: object) -> None:
    """Compares what a program printed with the facts."""
    if not condition:
        pytest.fail(str(what))


def run(*words: str, status: int | None = 0) -> str:
    """Returns the stdout of a command, whose exit status must be `status`, unless that is None."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False)
    if status is not None:
        expect(done.returncode == status, f"{words}: exit status {done.returncode}: "
               f"{done.stdout[-300:]} {done.stderr[-300:]}")
    return done.stdout


def list_devices() -> Any:
    """Returns the program's own list."""
    return json.loads(run(PROGRAM, "--json"))


def devinfo(device: str) -> str:
    """Returns the output of libibverbs' own program."""
    return run("ibv_devinfo", "-v", "-d", device)


def field(text: str, name: str) -> str:
    """The value of a line "name: value"."""
    found = re.search(rf"^\s*{name}:\s*(.*?)\s*$", text, re.MULTILINE)
    expect(found, f"ibv_devinfo has no {name}")
    assert found
    return found[1]


def test_same_limits() -> None:
    """Each limit that ibv_devinfo knows by the same name has the same value."""
    for name, device in list_devices().items():
        text, compared = devinfo(name), 0
        for limit, value in device["limits"].items():
            if re.search(rf"^\s*{limit}:", text, re.MULTILINE):
                expect(int(field(text, limit)) == value, f"{name} {limit}: {value}")
                compared += 1
        expect(compared >= 16, f"{name}: only {compared} limits to compare")
        vectors = int(field(text, "num_comp_vectors"))
        expect(device["limits"]["comp_vectors"] == vectors, f"{name} comp_vectors")
        atomics = field(text, "atomic_cap").split()[0]
        wanted = {"ATOMIC_NONE": "none", "ATOMIC_HCA": "device", "ATOMIC_GLOB": "global"}[atomics]
        expect(device["limits"]["atomics"] == wanted, f"{name} atomics {wanted}")
        odp = "NO SUPPORT" not in text or "SUPPORT\n" in text.split("rc_odp_caps")[0]
        expect(device["limits"]["odp"] == odp, f"{name} odp")


def test_same_identity() -> None:
    """GUIDs, firmware and transport are the same."""
    for name, device in list_devices().items():
        text = devinfo(name)
        expect(device["node_guid"] == field(text, "node_guid"), "node GUID")
        expect(device["system_image_guid"] == field(text, "sys_image_guid"), "system image GUID")
        expect(device["firmware"] == field(text, "fw_ver"), "firmware")
        iwarp = field(text, "transport").startswith("iWARP")
        expect(device["transport"] == ("iWARP" if iwarp else "RoCE"), device["transport"])


def test_same_ports() -> None:
    """State, netdev, link layer, MTU, rate and message size, as rdma(8), ibv_devinfo and sysfs have them."""
    devices, compared = list_devices(), 0
    for link in json.loads(run("rdma", "-j", "link")):
        port = devices[link["ifname"]]["ports"][str(link["port"])]
        text = devinfo(link["ifname"])
        expect(port["state"].upper() == link["state"], port["state"])
        expect(port["netdev"] == link.get("netdev"), port["netdev"])
        expect(port["link_layer"] == field(text, "link_layer"), port["link_layer"])
        expect(port["active_mtu"] == int(field(text, "active_mtu").split()[0]), "active MTU")
        expect(port["max_mtu"] == int(field(text, "max_mtu").split()[0]), "maximum MTU")
        expect(port["max_msg_sz"] == int(field(text, "max_msg_sz"), 16), "message size")
        rate = Path(f"/sys/class/infiniband/{link['ifname']}/ports/{link['port']}/rate").read_text()
        expect(port["rate_gbps"] == float(rate.split()[0]), f"{port['rate_gbps']}, {rate}")
        compared += 1
    expect(compared == len(devices) and compared, f"{compared} ports compared")


def expand(gid: str) -> str:
    """An IPv6 address in full, by Python's own reading of it."""
    import ipaddress  # pylint: disable=import-outside-toplevel
    return ipaddress.IPv6Address(gid).exploded


def test_same_gids() -> None:
    """Index, GID and type of each, as ibv_devinfo has them; and the address, as ip(8) has it."""
    addresses = {link["ifname"]: {info["local"] for info in link["addr_info"]}
                 for link in json.loads(run("ip", "-j", "address"))}
    for name, device in list_devices().items():
        if device["transport"] == "iWARP":
            continue
        port = device["ports"]["1"]
        said = {int(index): (expand(gid["gid"]), gid["type"]) for index, gid in port["gids"].items()}
        lines = re.findall(r"GID\[\s*(\d+)\]:\s*(\S+), (.*)$", devinfo(name), re.MULTILINE)
        wanted = {int(index): (expand(gid), kind) for index, gid, kind in lines}
        expect(said == wanted and wanted, f"{said}, not {wanted}")
        expect({kind for _, kind in said.values()} <= MODES, said)
        served = {gid["address"] for gid in port["gids"].values()}
        expect(addresses[port["netdev"]] == served, f"{addresses[port['netdev']]}, {served}")
        expect({gid["netdev"] for gid in port["gids"].values()} == {port["netdev"]}, "netdev of a GID")


def test_same_text() -> None:
    """The list for people has each value of the other one."""
    text = run(PROGRAM)
    for name, device in list_devices().items():
        expect(f"{name}: {device['transport']}, firmware {device['firmware']}" in text, name)
        one = run(PROGRAM, name)
        for limit, value in device["limits"].items():
            word = {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
            row = limit.upper() if limit == "odp" else limit
            expect(re.search(rf"^ +{row} +{word}  \S", one, re.MULTILINE), f"{name} {limit}")
        expect(re.search(rf"^    max_msg_sz +{device['ports']['1']['max_msg_sz']}  bytes", one, re.MULTILINE), f"{name} max_msg_sz")
        for index, gid in device["ports"]["1"]["gids"].items():
            expect(re.search(rf"GID {index} +{gid['type']} +{gid['gid']}", one), f"{name} GID {index}")


def test_wrong_usage() -> None:
    """The program prints one line and nothing on stdout, and ends with status 2."""
    with open("/dev/full", "w") as full:
        done = subprocess.run([PROGRAM], stdout=full, stderr=subprocess.PIPE, text=True, timeout=LIMIT, check=False)
    expect(done.returncode == 1 and "writing to stdout" in done.stderr, done)
    for words in (["-x"], ["--check"], ["--check", "no/such"], ["-p", "1"], ["a", "b"], ["-j", "-w"],
                  ["--check", "127.0.0.1", "-p", "0"], ["--check", "127.0.0.1", "more"]):
        done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=LIMIT, check=False)
        expect(done.returncode == 2 and not done.stdout, f"{words}: {done}")
        expect(done.stderr.count("\n") == 1, f"{words}: {done.stderr}")
    expect("usage:" in run(PROGRAM, "--help"), "--help")
    done = subprocess.run([PROGRAM, "nosuch0"], capture_output=True, text=True, timeout=LIMIT, check=False)
    expect(done.returncode == 1 and "no RDMA device 'nosuch0'" in done.stderr, done)


def check(address: str, *before: str) -> tuple[dict[str, str], str, int]:
    """Returns the results of --check: verdict and text of each step, the last line, and the exit status."""
    words = [*before, PROGRAM, "--check", address, "-p", PORT]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False)
    steps = {}
    for line in done.stdout.splitlines()[:-1]:
        verdict, name, text = re.split(r"\s{2,}", line, maxsplit=2)
        steps[name] = f"{verdict} {text}"
    expect(steps, f"{words}: {done.stderr}")
    return steps, done.stdout.splitlines()[-1], done.returncode


def expect_well(address: str) -> None:
    """Checks that nothing is wrong, and that only what nobody can tell is said to be so."""
    steps, last, status = check(address)
    expect(status == 0 and last.startswith("nothing was found"), f"{steps} {last}")
    unknown = {name for name, text in steps.items() if text.startswith("?")}
    expect(unknown == UNKNOWN and not any(text.startswith("-") for text in steps.values()), steps)


def expect_failure(result: tuple[dict[str, str], str, int], first: str, text: str, remedy: str) -> None:
    """The step `first` is the first that fails, and says `text`."""
    steps, last, status = result
    failed = [name for name, said in steps.items() if said.startswith("FAILS")]
    expect(status == 1 and failed and failed[0] == first, f"{first} is not the first: {steps} {last}")
    expect(text in steps[first], f"'{text}' is not in '{steps[first]}'")
    expect(last.startswith("remedy: ") and remedy in last, f"'{remedy}' is not in '{last}'")


def test_all_is_well() -> None:
    """All is well on both transports, for this machine's addresses and another's."""
    for address in (ROCE, IWARP, os.environ["LAB_ROCE_ADDR6"], os.environ["LAB_IWARP_ADDR6"], "192.0.2.77"):
        expect_well(address)


def test_own_address() -> None:
    """'' stands for one of this machine, on a network device with an RDMA device."""
    expect_well("")
    steps = check("")[0]
    own = ROCE if ROCE in steps["address"] else IWARP
    expect(steps["address"].startswith(f"ok {own} is this machine's"), steps)
    expect(steps["connecting"].startswith(f"ok a server can listen on {own}:{PORT}, with "), steps)


@pytest.mark.parametrize("without, own", [("LAB_ROCE", "LAB_IWARP"), ("LAB_IWARP", "LAB_ROCE")])
def test_own_address_of_ipv6(without: str, own: str) -> None:
    """Checks the address of a machine that has no other; its own on each link has no place in a command, also if it comes first."""
    netdevs = [os.environ[f"{link}_NETDEV"] for link in (without, own)]
    had = [(netdev, address) for netdev in netdevs for kind, address in re.findall(r"\b(inet6?) (\S+).* scope global", run("ip", "address", "show", "dev", netdev))
           if kind == "inet" or netdev == netdevs[0]]  # fmt: skip
    expect(len(had) == 3, had)
    for netdev, address in had:
        run("ip", "address", "del", address, "dev", netdev)
    try:
        steps, last, status = check("")
    finally:
        for netdev, address in had:
            run("ip", "address", "add", address, "dev", netdev)
    expect(status == 0 and steps["address"].startswith(f"ok {os.environ[f'{own}_ADDR6']} is this machine's"), f"{steps} {last}")


def test_two_network_devices_in_one_network() -> None:
    """One that is in the network of the address, by that one's mask, is named. One in the next network is not, and the networks fe80::
    of two links are two."""
    netdev, six = os.environ["LAB_ROCE_NETDEV"], os.environ["LAB_ROCE_ADDR6"]
    link = re.findall(r"inet6 (fe80\S+)/", run("ip", "address", "show", "dev", netdev))[0]
    run("ip", "link", "add", "plain0", "type", "dummy")
    run("ip", "link", "set", "plain0", "up")
    try:
        for beside, asked, shared in (("192.0.2.200/32", ROCE, True), ("192.0.3.1/16", ROCE, False), ("2001:db8:1::c8/128", six, True),
                                      ("2001:db8:1:1::1/48", six, False), ("", f"{link}%{netdev}", False)):  # fmt: skip
            if beside:
                run("ip", "address", "add", beside, "dev", "plain0")
            said = check(asked)[0]["subnet"]
            if beside:
                run("ip", "address", "del", beside, "dev", "plain0")
            wanted = f"? plain0 is in the network of {asked}, too" if shared else f"ok no other network device here is in the network of {asked.partition('%')[0]}"
            expect(said.startswith(wanted), f"{beside}: {said}")
    finally:
        run("ip", "link", "delete", "plain0")


def test_mtu() -> None:
    """The network device's own, and a ping that fills it: 20 bytes of IPv4 or 40 of IPv6, and 8 of ICMP. Unknown if /sys belongs to
    another network namespace."""
    netdev = os.environ["LAB_ROCE_NETDEV"]
    mtu = json.loads(run("ip", "-j", "link", "show", "dev", netdev))[0]["mtu"]
    for address, heads in ((ROCE, 28), (os.environ["LAB_ROCE_ADDR6"], 48)):
        said = check(address)[0]["MTU"]
        active = list_devices()[os.environ["LAB_ROCE_DEV"]]["ports"]["1"]["active_mtu"]
        expect(said.startswith(f"? {active} bytes of {netdev}'s {mtu}; ") and f"`ping -M do -s {mtu - heads} ADDRESS`" in said, said)
    steps, _, status = check(ROCE, "unshare", "--mount", "sh", "-c", "mount -t tmpfs none /sys/class/net; exec \"$@\"", "sh")
    expect(status == 0 and steps["MTU"].startswith("? /sys/class/net/") and "cannot be read" in steps["MTU"], steps)


def device_of_server(address: str) -> str:
    """The RDMA device that the kernel chooses for a server that listens there."""
    with subprocess.Popen(["ping-sr-0/server", "-a", address, "-p", PORT], text=True, stderr=subprocess.PIPE) as server:
        assert server.stderr
        expect("listening" in server.stderr.readline(), "the server does not listen")
        ids = run("rdma", "resource", "show", "cm_id")
        server.terminate()
        expect(server.wait(LIMIT) == 0, "the server failed")
    found = re.search(rf"^link (\w+)/.*src-addr \S*:{PORT}\b", ids, re.MULTILINE)
    expect(found, ids)
    assert found
    return found[1]


def test_right_device() -> None:
    """The one that a connection has is described, also if the network device carries two."""
    for address, netdev in ((ROCE, os.environ["LAB_ROCE_NETDEV"]), (IWARP, os.environ["LAB_IWARP_NETDEV"])):
        other = "siw" if address == ROCE else "rxe"
        for beside in (False, True):
            if beside:
                run("rdma", "link", "add", f"{other}1", "type", other, "netdev", netdev)
            try:
                device, steps = device_of_server(address), check(address)[0]
            finally:
                if beside:
                    run("rdma", "link", "delete", f"{other}1")
            expect(steps["netdev"] == f"ok {netdev} carries port 1 of {device}", f"{device}: {steps}")
            expect(steps["port"].startswith(f"ok port 1 of {device} is active"), f"{device}: {steps}")


def test_link_down() -> None:
    """The network device is down; the remedy, as it is printed, helps."""
    for address, device in ((ROCE, os.environ["LAB_ROCE_NETDEV"]), (IWARP, os.environ["LAB_IWARP_NETDEV"])):
        run("ip", "link", "set", device, "down")
        result = check(address)
        run("ip", "link", "set", device, "up")
        expect_failure(result, "link", f"{device} is down", f"`ip link set {device} up`")
        expect_well(address)
    # soft-RoCE counts; soft-iWARP does not, and its network device has only lost its carrier if the cable is pulled.
    downs = Path("/sys/class/infiniband/rxe0/ports/1/hw_counters/link_downed").read_text().strip()
    expect(int(downs) and f"is active; its link has gone down {downs} time" in check(ROCE)[0]["port"], check(ROCE))


def test_not_ours() -> None:
    """These addresses are not ours: one without a way there; the loopback device; any address."""
    expect_failure(check("203.0.113.9"), "address", "no way from here", "ip route")
    for address in ("127.0.0.1", "::1"):
        expect_failure(check(address), "address", "loopback", "`devices` lists them")
    expect_failure(check("::"), "address", "stands for all addresses", "name one address")


def test_no_rdma_there() -> None:
    """An address of a network device that carries no RDMA device; once it does, all is well."""
    run("ip", "link", "add", "plain0", "type", "dummy")
    run("ip", "address", "add", "203.0.113.1/24", "dev", "plain0")
    run("ip", "link", "set", "plain0", "up")
    remedy = "rdma link add rxe1 type rxe netdev plain0"
    try:
        expect_failure(check("203.0.113.1"), "netdev", "plain0 carries no RDMA device", remedy)
        run(*remedy.split())
        expect_well("203.0.113.1")
        run("rdma", "link", "delete", "rxe1")
    finally:
        run("ip", "link", "delete", "plain0")


def test_without_netdev() -> None:
    """In another network namespace the devices are there, and their network devices are not."""
    script = ("ip link add plain0 type dummy; ip address add 203.0.113.1/24 dev plain0; "
              "ip link set plain0 up; ip link set lo up; exec \"$@\"")
    result = check("203.0.113.1", "unshare", "--net", "sh", "-c", script, "sh")
    expect_failure(result, "netdev", "is not in this network namespace", "use an address of")
    listed = json.loads(run("unshare", "--net", PROGRAM, "-j"))
    expect({device["ports"]["1"]["netdev"] for device in listed.values()} == {None}, listed)


def test_gids_as_other_devices_have_them() -> None:
    """libibverbs is made to list a GID of RoCE v1, none, or GIDs of both types, v1 first."""
    preload = "LD_PRELOAD=build/tests/gids.so"  # the loader splits it at spaces
    expect_failure(check(ROCE, "env", preload, "GIDS=v1"), "GID", "is of RoCE v1 only", "cma_roce_mode")
    expect_failure(check(ROCE, "env", preload, "GIDS=none"), "GID", f"serves {ROCE}", "ip address del")
    both = check(ROCE, "env", preload, "GIDS=both")
    expect(both[2] == 0 and re.match(rf"ok {ROCE} is GID \d+, RoCE v2, on ", both[0]["GID"]), both)


def test_port_taken() -> None:
    """A server listens on the address."""
    for address in (ROCE, IWARP):
        with subprocess.Popen(["ping-sr-0/server", "-a", address, "-p", PORT], text=True,
                              stderr=subprocess.PIPE) as server:
            assert server.stderr
            expect("listening" in server.stderr.readline(), "the server does not listen")
            result = check(address)
            server.terminate()
            expect(server.wait(LIMIT) == 0, "the server failed")
        expect_failure(result, "connecting", f"{address}:{PORT} is taken", "take another port")
        expect_well(address)


def test_little_memory() -> None:
    """The limit on locked memory holds without the capability to pass it."""
    before = ["setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock", "prlimit", "--memlock=65536:65536"]
    for address in (ROCE, IWARP):
        expect_failure(check(address, *before), "memory", "locked memory is 64 KiB", "ulimit -l")


# Things that a container or a machine may lack, in a mount namespace; the step that fails, its text, and its remedy.
HIDDEN = [
    ("mount -t tmpfs none /sys/class", "device", "no RDMA driver is loaded", "type rxe netdev NETDEV"),
    ("mount -t tmpfs none /sys/class; mkdir -p /sys/class/infiniband/rxe0", "verbs", "the module ib_uverbs is not loaded", "modprobe ib_uverbs"),
    ("mount -t tmpfs none /dev/infiniband", "verbs", "/dev/infiniband/uverbs* are missing", "--device /dev/infiniband"),
    ("mount -t tmpfs none /dev/infiniband; touch /dev/infiniband/uverbs0", "CM", "the device node /dev/infiniband/rdma_cm is missing", "--device /dev/infiniband/rdma_cm"),
    ("mount -t tmpfs none /dev/infiniband; touch /dev/infiniband/uverbs0; mount -t tmpfs none /sys/class/misc", "CM", "the module rdma_ucm is not loaded", "modprobe rdma_ucm"),
    ("mount -t tmpfs none /etc/libibverbs.d", "library", "libibverbs knows none of the kernel's 2 devices", "ibverbs-providers"),
]  # fmt: skip


def test_what_is_hidden() -> None:
    """The step fails; with nothing hidden the same command finds nothing."""
    for script, step, text, remedy in [*HIDDEN, ("true", "", "", "")]:
        result = check(ROCE, "unshare", "--mount", "sh", "-c", f'{script}; exec "$@"', "sh")
        if step:
            expect_failure(result, step, text, remedy)
        else:
            expect(result[2] == 0, result)


def test_no_carrier() -> None:
    """The other end of the cable is down; then it is up."""
    run("ip", "link", "add", "plain0", "type", "veth", "peer", "name", "plain1")
    run("ip", "address", "add", "203.0.113.1/24", "dev", "plain0")
    run("ip", "link", "set", "plain0", "up")
    run("rdma", "link", "add", "rxe1", "type", "rxe", "netdev", "plain0")
    try:
        expect_failure(check("203.0.113.1"), "link", "plain0 is up, but has no carrier", "ethtool")
        run("ip", "link", "set", "plain1", "up")
        until(lambda: not check("203.0.113.1")[2], "all is well")
    finally:
        run("rdma", "link", "delete", "rxe1")
        run("ip", "link", "delete", "plain0")


def test_no_device_in_this_namespace() -> None:
    """A container lacks the device if the machine gives each device to one namespace."""
    run("rdma", "system", "set", "netns", "exclusive")
    run("ip", "netns", "add", "container")
    try:
        result = check(ROCE, "ip", "netns", "exec", "container")
    finally:
        run("ip", "netns", "delete", "container")
        shared = ["rdma", "system", "set", "netns", "shared"]
        until(lambda: not subprocess.call(shared, stderr=subprocess.DEVNULL), "no other namespace is there")
    expect_failure(result, "device", "has 2 RDMA devices, but none in this network namespace", "rdma dev set")
    expect(result[0]["library"].startswith("-"), result[0])


def test_no_permission() -> None:
    """The nodes of the device are root's alone."""
    nodes = [*Path("/dev/infiniband").glob("uverbs*"), Path("/dev/infiniband/rdma_cm")]
    modes = {node: node.stat().st_mode & 0o777 for node in nodes}
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    try:
        for node in nodes:
            node.chmod(0o600)
        expect_failure(check(ROCE, *nobody), "CM", "Permission denied", "run as root")
        Path("/dev/infiniband/rdma_cm").chmod(0o666)
        expect_failure(check(ROCE, *nobody), "library", "cannot be opened", "chmod 666 /dev/infiniband")
    finally:
        for node, mode in modes.items():
            node.chmod(mode)


def test_no_device() -> None:
    """All devices are taken away; then one is made by the remedy's own words."""
    run("rdma", "link", "delete", "rxe0")
    run("rdma", "link", "delete", "siw0")
    result = check(ROCE)
    expect_failure(result, "device", "the kernel has no RDMA device", "type rxe netdev NETDEV")
    done = subprocess.run([PROGRAM], capture_output=True, text=True, timeout=LIMIT, check=False)
    expect(done.returncode == 1 and "there is no RDMA device" in done.stderr, done)
    words = re.search(r"rdma link add rxe0 type rxe netdev NETDEV", result[1])
    expect(words, result[1])
    assert words
    run(*words[0].replace("NETDEV", os.environ["LAB_ROCE_NETDEV"]).split())
    run("rdma", "link", "add", "siw0", "type", "siw", "netdev", os.environ["LAB_IWARP_NETDEV"])
    expect_well(ROCE)
    expect_well(IWARP)
