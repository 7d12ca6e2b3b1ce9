# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A record under load: no subscriber takes a torn one, and one that dies or stops holds up no other.

One subscriber that checks nothing has to take a torn record: otherwise the load would prove nothing.
"""

import pytest
from live.conftest import Client, Server
from live.table import NEVER, each

CHANGING = "--record 16k --rate 2000"
SUBSCRIBES = "-w 5 -s 16k -v"
COUNTS = [(2, 50), pytest.param(8, 300, marks=pytest.mark.long)]  # numbers of subscribers, and of their records


@pytest.mark.parametrize("crowd, records", COUNTS)
@each("pubsub-rdma-1 pubsub-rdma-2", check=lambda stage, link: stage.name == "pubsub-rdma-1")
def test_only_one_that_does_not_look_takes_a_torn_record(
    server: Server, client: Client, crowd: int, records: int
) -> None:
    s = server("-n 0", CHANGING)
    looking = [client(SUBSCRIBES, "-q -c", records) for _ in range(crowd)]
    blind = client(SUBSCRIBES, "-q -c 1000000 --check none").ends(1)
    assert "a torn record was taken for a whole one" in blind.err
    for c in looking:
        c.ends(0)
    s.signal("INT").ends(0)


@each("pubsub-rdma-1 pubsub-rdma-2", check=NEVER)
def test_the_sum_is_enough_by_itself(server: Server, client: Client) -> None:
    s = server("-n 1", CHANGING)
    client(SUBSCRIBES, "-q -c 300 --check sum").ends(0)
    s.ends(0)


@each("pubsub-rdma-1 pubsub-rdma-2", check=NEVER)
def test_the_numbers_are_enough_if_the_device_reads_in_order(server: Server, client: Client) -> None:
    s = server("-n 1", CHANGING)
    client(SUBSCRIBES, "-q -c 300 --check numbers").ends(0)
    s.ends(0)


@each("pubsub-rdma-1 pubsub-rdma-2", check=NEVER)
def test_a_subscriber_is_killed_and_another_served(server: Server, client: Client) -> None:
    s = server("-n 2", CHANGING)
    victim = client(SUBSCRIBES, "-t -c 1000000").awaits("ibv_poll_cq")
    victim.kill()
    client(SUBSCRIBES, "-q -c 300").ends(0)
    s.ends(0)
    assert "the client left" in s.err


@pytest.mark.parametrize("records", [50, pytest.param(300, marks=pytest.mark.long)])
@each("pubsub-rdma-2")
def test_one_is_killed_one_stopped_and_those_beside_them_served(server: Server, client: Client, records: int) -> None:
    """Both are struck while the server writes to them. The subscriber that is stopped goes on when the others are done."""
    s = server("-n 0", CHANGING)
    victim, stopped = (client(SUBSCRIBES, "-t -c 1000000") for _ in range(2))
    victim.awaits("ESTABLISHED")
    stopped.awaits("ESTABLISHED")
    client(SUBSCRIBES, "-q -c 20").ends(0)  # when this client is done, the server writes to those before it, too
    stopped.signal("STOP")
    beside = [client(SUBSCRIBES, "-q -c", records) for _ in range(2)]
    victim.kill()
    for c in beside:
        c.ends(0)
    stopped.signal("CONT", "INT").ends(0)
    assert " messages of 16384 bytes" in stopped.out
    s.signal("INT").ends(0)


@each("pubsub-rdma-1 pubsub-rdma-2", check=NEVER)
def test_who_wants_a_record_of_another_size_is_refused(server: Server, client: Client) -> None:
    s = server("-n 1 --record 1k")
    assert "a record has 32 to" in client("-s 33").ends(2).err
    client("-s 64 -q").ends(1)
    client("-s 1k -q -v -c 20").ends(0)
    s.ends(0)
    assert "wants a record of 64 bytes, and this one has 1024" in s.err
