# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What a side of talk-rdma-0 tells its user of the other one."""

from __future__ import annotations

from typing import Any

import pytest
from table import each

NO_MORE = "the other side has no more to say; Ctrl-D ends this one"


@pytest.mark.parametrize("quiet", ["", "-q"])
@pytest.mark.parametrize("silent", ["server", "client"])
@each("talk-rdma-0")
def test_who_still_talks_hears_that_the_other_has_no_more_to_say(server: Any, client: Any, silent: str, quiet: str) -> None:
    """Once; the other, which hears it later, knows that it has no more to say itself."""
    lines = {"server": "", "client": ""} | {"client" if silent == "server" else "server": "a line\n" * 20}
    s = server(quiet, stdin=lines["server"])
    c = client(quiet, stdin=lines["client"]).ends(0)
    s.ends(0)
    said = {"server": s.err.count(NO_MORE), "client": c.err.count(NO_MORE)}
    assert said == {"server": 0, "client": 0} | ({} if quiet else {"client" if silent == "server" else "server": 1})
