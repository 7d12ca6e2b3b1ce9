# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The private data that our programs send when they connect, in words.

Place: called for the REQ and REJ of RoCE and the MPA frames of iWARP, as tshark does not know what programs put
there. Contract: the layout is that of docs/protocol.md; what does not fit it is shown as bytes.
"""

import struct

MAGIC = 0x4F555231  # "OUR1"
ENDLESS = 10**12
REASONS = {
    1: "the private data make no sense",
    2: "the count is 0 or over the limit",
    3: "the size is 0 or over the limit",
    4: "the number of buffers is 0 or over the limit",
    5: "the server lacks something",
    6: "the server has all the clients that it is to serve",
    7: "the server has no file descriptor left",
    8: "the server has not that much memory left for clients",
    9: "the server has waiting, or serves, as many clients as it may at a time",
}


def _bytes(data: bytes) -> list[str]:
    stripped = data.rstrip(b"\0")
    if not stripped:
        return []
    return [f"private data: {stripped[:32].hex(' ', 4)}{' ...' if len(stripped) > 32 else ''}"]


def of_request(data: bytes) -> list[str]:
    """Describes the private data of a connect request, our_connect_info: a line, or none."""
    if len(data) < 16:
        return _bytes(data)
    count, size, buffers = struct.unpack(">QQQ", data[:24].ljust(24, b"\0"))
    magic, version, length = struct.unpack(">IHH", data[24:32].ljust(8, b"\0"))
    if not 0 < count <= 2**48 or not 0 < size <= 2**48:
        return _bytes(data)
    told = f"private data: count {'until it leaves' if count == ENDLESS else count}, size {size}"
    told += f", {buffers} buffers" if buffers else ""
    if magic == MAGIC:
        told += f"; OUR1, version {version}, {length} bytes"
    return [told]


def of_refusal(data: bytes) -> list[str]:
    """Why a server refuses a client; a line, or none."""
    if len(data) < 16 or struct.unpack(">I", data[:4])[0] != MAGIC:
        return _bytes(data)
    version, reason, limit = struct.unpack(">HHQ", data[4:16])
    why = REASONS.get(reason, "unknown")
    return [f"private data: OUR1, version {version}; reason {reason}, {why}; limit {limit}"]
