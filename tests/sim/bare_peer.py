# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A peer of ping-rc-0 that speaks only TCP: a program, to be run over the simulated device.

    bare_peer.py connect say:TEXT read wait:SECONDS ... [exec PROGRAM ARGUMENT ...]

`listen` waits for a client, `connect` connects (what was connected before is closed), `read` reads a line up to its 0 or the
end, and `exec` becomes another program. TEXT may have Python's escapes.
"""

from __future__ import annotations

import os
import socket
import sys
import time

SERVER = ("192.0.2.1", 12321)


def read(peer: socket.socket) -> None:
    """Reads until the line ends, or the peer has gone."""
    try:
        while (byte := peer.recv(1)) and byte != b"\0":
            pass
    except ConnectionResetError:
        pass


def main(words: list[str]) -> None:
    """Does what the words say, in order."""
    peer = socket.socket()
    for number, word in enumerate(words):
        what, _, value = word.partition(":")
        if what == "listen":
            with socket.create_server(SERVER) as listener:
                peer = listener.accept()[0]
        elif what == "connect":
            peer.close()
            peer = socket.create_connection(SERVER)
        elif what == "say":
            peer.sendall(value.encode().decode("unicode_escape").encode("latin-1"))
        elif what == "read":
            read(peer)
        elif what == "wait":
            time.sleep(float(value))
        elif what == "exec":
            peer.close()
            os.execv(words[number + 1], words[number + 1 :])


main(sys.argv[1:])
