# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Facts from the kernel: how many RDMA objects each device has, the number of connections, and its log.

Contract: objects are asked for by netlink, as rdma(8) does, which takes an emulated guest too long to start.
"""

from __future__ import annotations

import os
import re
import socket
import struct
from collections.abc import Iterator

COMPLAINT = re.compile(
    "BUG|WARNING|Oops|Call Trace|lockup|refcount|blocked for more than|stall on CPU|"
    "stalls on CPU|general protection|corruption|use-after-free|leaked"
)

# rdma/rdma_netlink.h: the family, its client with the operations in the upper bits, attributes.
_NETLINK_RDMA, _NLDEV, _REQUEST_DUMP = 20, 5 << 10, 0x301
_DEVICE_GET, _RESOURCE_GET, _QP_GET, _CM_ID_GET = 1, 9, 10, 11
_DEV_INDEX, _DEV_NAME, _SUMMARY, _SUMMARY_ENTRY, _SUMMARY_NAME, _SUMMARY_COUNT = 1, 2, 15, 16, 17, 18
_QPS, _STATE, _PID, _CM_IDS = 19, 27, 28, 30
_READY_TO_SEND, _CONNECTED = 3, 5  # ib_verbs.h, and rdma_cm.h's states of a cm_id


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= 4:
        length, kind = struct.unpack_from("HH", data)
        if length < 4:
            return
        yield kind & 0x3FFF, data[4:length]
        data = data[(length + 3) & ~3 :]


def _dump(operation: int, of: bytes = b"") -> Iterator[dict[int, bytes]]:
    """The messages that answer a request, such as about the device with this index."""
    argument = struct.pack("HH", 8, _DEV_INDEX) + of if of else b""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_RDMA) as sock:
        sock.send(struct.pack("IHHII", 16 + len(argument), _NLDEV + operation, _REQUEST_DUMP, 0, 0) + argument)
        while True:
            data = sock.recv(1 << 17)
            while len(data) >= 16:
                length, kind = struct.unpack_from("IH", data)
                if kind in (2, 3):  # NLMSG_ERROR, NLMSG_DONE
                    return
                yield dict(_attributes(data[16:length]))
                data = data[(length + 3) & ~3 :]


def objects() -> dict[str, dict[str, int]]:
    """Returns how many of each kind each device has, as `rdma resource show` prints them."""
    found = {}
    for message in _dump(_RESOURCE_GET):
        entries = [dict(_attributes(data)) for kind, data in _attributes(message[_SUMMARY]) if kind == _SUMMARY_ENTRY]
        counts = {e[_SUMMARY_NAME][:-1].decode(): int.from_bytes(e[_SUMMARY_COUNT], "little") for e in entries}
        found[message[_DEV_NAME][:-1].decode()] = counts
    return found


def qps() -> list[int]:
    """Returns how many queue pairs each device has."""
    return [counts["qp"] for counts in objects().values()]


def connected(transport: str) -> int:
    """Returns how many ends of connections processes have here. soft-iWARP does not tell the states of its QPs, so its cm_ids
    count; they say so a little early, as they change before the other side has answered."""
    operation, listed, wanted = (_CM_ID_GET, _CM_IDS, _CONNECTED) if transport == "iWARP" else (_QP_GET, _QPS, _READY_TO_SEND)
    found = 0
    for device in _dump(_DEVICE_GET):
        for message in _dump(operation, device[_DEV_INDEX]):
            for _, data in _attributes(message.get(listed, b"")):
                entry = dict(_attributes(data))
                found += _PID in entry and entry.get(_STATE) == bytes([wanted])
    return found


class Log:
    """The kernel's log from now on."""

    def __init__(self) -> None:
        """Opens the netlink socket."""
        self.descriptor = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self.descriptor, 0, os.SEEK_END)

    def close(self) -> list[str]:
        """Returns the lines about faults inside the kernel."""
        lines = []
        while True:
            try:
                record = os.read(self.descriptor, 8192).decode(errors="replace")
                lines.append(record.split(";", 1)[-1].splitlines()[0])
            except BrokenPipeError:  # lines were lost: read on
                continue
            except BlockingIOError:
                os.close(self.descriptor)
                return [line for line in lines if COMPLAINT.search(line)]
