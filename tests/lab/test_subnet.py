# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Two RoCE devices in one subnet, on both hosts: what docs/your-machines.md says of them, and devices --check."""

import re

import pytest

from .conftest import TOP, Lab

pytestmark = pytest.mark.long

SET_UP = """cd {top}; n=$LAB_HOST
rdma link delete siw0; ip link set iwarp0 down; ip link set iwarp0 name roce1; ip address flush dev roce1
ip link set roce1 up; ip address add 192.0.2.1$n/24 dev roce1; rdma link add rxe1 type rxe netdev roce1
"""
SERVER = """for i in 2 12; do ping-sr-3/server -q -n 0 -a 192.0.2.$i & done; rping -s -a 192.0.2.12 -P >/dev/null &
until [ $(rdma resource show cm_id | grep -c LISTEN) = 3 ]; do sleep 0.1; done
busybox nc -l -p 1111; busybox nc -l -p 2222; echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore; busybox nc -l -p 3333; busybox nc -l -p 4444"""
CLIENT = """meet() { until busybox nc 192.0.2.2 $1 </dev/null 2>/dev/null; do sleep 0.1; done; }
try() { ip neigh flush all; timeout $3 ping-sr-3/client -q -c 3 -a $1 >/dev/null; echo "$2: $?"; }
meet 1111; ping -c 1 -W 5 192.0.2.12 >/dev/null; echo "ping: $?"; ip neigh show 192.0.2.12
try 192.0.2.12 flux 6; try 192.0.2.2 first 60; tools/devices/devices --check 192.0.2.12 | grep subnet
ip route add 192.0.2.12/32 dev roce1 src 192.0.2.11; try 192.0.2.12 route 60; ip route del 192.0.2.12/32
meet 2222; meet 3333; try 192.0.2.12 ignored 60
timeout 60 rping -c -a 192.0.2.12 -I 192.0.2.11 -C 2 >/dev/null; echo "bound: $?"; meet 4444"""


def test_two_devices_in_one_subnet(lab: Lab) -> None:
    script = [SET_UP.format(top=TOP) + side for side in (CLIENT, SERVER)]
    said = lab.run("--hosts", "2", "--no-prefix", "--", "bash", "-c", script[0], ":::", "bash", "-c", script[1])
    found = dict(re.findall(r"^(\w+): (\d+)$", said.out, re.MULTILINE))
    assert found == {"ping": "0", "flux": "124", "first": "0", "route": "0", "ignored": "1", "bound": "0"}, said
    assert "192.0.2.12 dev roce0 lladdr 02:00:00:00:10:02" in said.out, said
    assert "RDMA_CM_EVENT_ADDR_ERROR" in said.err + said.out and re.search(r"^\?  +subnet +roce1 is in the network", said.out, re.MULTILINE), said
