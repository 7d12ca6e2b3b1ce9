# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The packets of a capture, as tshark describes them.

Place: below roce.py and iwarp.py, which read these fields. Contract: nothing here looks at a packet's bytes:
each field, and the word for its value, is tshark's.
"""

import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

# Protocols that tshark believes to find in the bytes of our messages.
NOT_OURS = (
    "rpcordma", "smb_direct", "iser", "nvme-rdma", "lnet", "smc", "infiniband.eoib", "infiniband_sdp", "fcoib"
)  # fmt: skip
FLAGS = {"False": 0, "True": 1}  # tshark 4.4 shows a flag so, and 4.0 by its number
OURS = "infiniband || tcp.port == 12321"


@dataclass
class Layer:
    """One protocol's part of a frame."""

    name: str
    numbers: dict[str, str] = field(default_factory=dict)  # field: its value as tshark shows it
    words: dict[str, str] = field(default_factory=dict)  # field: its value in words, "Ack"
    hexadecimal: dict[str, str] = field(default_factory=dict)  # field: its bytes

    def number(self, name: str, default: int = 0) -> int:
        """The value of a field of the layer."""
        shown = self.numbers.get(name) or str(default)
        return FLAGS[shown] if shown in FLAGS else int(shown, 0)

    def data(self, name: str) -> bytes:
        """The bytes of a field of the layer; none if it is not there."""
        return bytes.fromhex(self.hexadecimal.get(name, ""))

    def has(self, name: str) -> bool:
        """Returns whether the frame has the field."""
        return name in self.numbers


@dataclass
class Frame:
    """A packet of the capture."""

    seconds: float
    source: str
    destination: str
    layers: list[Layer]

    def layer(self, name: str) -> Layer | None:
        """The first layer of this name."""
        return next((layer for layer in self.layers if layer.name == name), None)


class NoFrames(Exception):
    """tshark did not read the file."""


def _word(showname: str) -> str:
    """Returns the word for a value: 'Ack' for '.00. .... = OpCode: Ack (0)'."""
    after = showname.split(": ", 1)[-1]
    return after.rsplit(" (", 1)[0]


def _layer(proto: ElementTree.Element) -> Layer:
    layer = Layer(proto.get("name", ""))
    for item in proto.iter("field"):
        name = item.get("name", "")
        layer.numbers.setdefault(name, item.get("show", ""))
        layer.words.setdefault(name, _word(item.get("showname", "")))
        layer.hexadecimal.setdefault(name, item.get("value", ""))
    return layer


def _frame(packet: ElementTree.Element) -> Frame:
    layers = [_layer(proto) for proto in packet.iter("proto")]
    seconds = 0.0
    for item in packet.iter("field"):
        if item.get("name") == "timestamp":
            seconds = float(item.get("value", "0"))
    frame = Frame(seconds, "", "", layers)
    for name in ("ip", "ipv6"):
        layer = frame.layer(name)
        if layer:
            frame.source, frame.destination = layer.numbers[f"{name}.src"], layer.numbers[f"{name}.dst"]
    return frame


def frames(path: Path) -> Iterator[Frame]:
    """The frames of a capture that are of RDMA, or of TCP to the port of our servers."""
    command = ["tshark", "-n", "-r", str(path), "-T", "pdml", "-Y", OURS]
    for name in NOT_OURS:
        command += ["--disable-protocol", name]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    if result.returncode:
        raise NoFrames(result.stderr.decode(errors="replace").strip().splitlines()[-1])
    for packet in ElementTree.fromstring(result.stdout).iter("packet"):
        yield _frame(packet)
