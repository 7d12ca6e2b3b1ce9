# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A peer that is killed. The other side does not wait forever: it ends without --timeout if the stage promises to
notice, and with --timeout in the other stages. One that is only silent is not taken for dead.
"""

from live import results
from live.conftest import ENDLESS, Client, Pair, Server
from live.table import Link, Stage, each
from live.test_stops import stages

LADDER = "ping-sr-0 ping-sr-2e ping-sr-2 ping-sr-3 ping-sr-4 ping-sr-5 blast-sr-2"
CHECK = {"RoCE": LADDER, "iWARP": "ping-sr-2 blast-sr-2"}


def limit(stage: Stage) -> str:
    """Returns the options that end a stage which does not notice. A busy machine may be silent for a second."""
    return "" if stage.notices_death else "--timeout 3"


@each(stages, check=CHECK)
def test_a_client_ends_when_its_server_is_killed(pair: Pair, stage: Stage, link: Link) -> None:
    s, c = pair.endless(timeout=limit(stage))
    s.kill()
    c.ends(1)
    assert c.said
    assert not results.of(c, stage, link, 8 if stage.name == "count-atomic-1" else 64)["complete"]


@each(stages, check=CHECK)
def test_a_server_ends_when_its_client_is_killed(pair: Pair, stage: Stage, link: Link) -> None:
    """A client that is killed is no failure of the server's."""
    s, c = pair.endless(timeout=limit(stage))
    c.kill()
    s.ends(0)
    assert s.said[1:]  # the first is "listening on"
    assert not results.of(s, stage, link, 8 if stage.name == "count-atomic-1" else 64)["complete"]


@each(stages, check=CHECK)
def test_a_server_outlives_a_killed_client(server: Server, client: Client, stage: Stage) -> None:
    """The second client is served, whatever happened to the first. A server that sees no messages needs no limit."""
    s = server("-n 2", "" if stage.one_sided else "--timeout 3", "" if stage.negotiates else ENDLESS)
    client(ENDLESS, "-T").awaits("ibv_post_send", 200).kill()
    client("-c 50 -v").ends(0)
    s.ends(0)


# ping-rc-0 has no --keepalive; on iWARP a server whose memory is written and read sends none.
@each(
    lambda stage: stages(stage) and stage.notices_death and stage.name != "ping-rc-0",
    check={"RoCE": "ping-sr-4", "iWARP": "ping-sr-4"},
    where=lambda stage, link: stage.agent_sees or link.transport != "iWARP",
)
def test_a_silent_client_is_not_taken_for_dead(pair: Pair) -> None:
    """The client is stopped and sends nothing, but its host answers keepalives: the server waits."""
    s, c = pair("-c 20", "--keepalive 1 -T", "--rate 10 -T")
    c.awaits("ibv_post_send", 5).signal("STOP")
    s.awaits("wr_id 0x4000000000000000, SUCCESS", 2)
    c.signal("CONT").ends(0)
    s.ends(0)


@each("ping-rdma-1 ping-rdma-2 ping-rdma-3 blast-rdma-1", check={"iWARP": "blast-rdma-1"})
def test_a_busy_connection_stands_keepalives(pair: Pair) -> None:
    """On iWARP a keepalive is a READ; the peer's WRITEs and READs are under way all the time."""
    s, c = pair("-D 3 -s 64k", "--keepalive 1", "--keepalive 1")
    c.ends(0)
    s.ends(0)
