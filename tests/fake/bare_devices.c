/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: ping-rc-0, which connects without the connection manager (CM). Contract: a
 * row for each machine among whose devices, ports and GIDs it has to choose; its result is in
 * beyond/ping-rc-0/README.md. Only these rows have more than one of each, and InfiniBand. See lines.h.
 */
#include <errno.h>

#include "tests/fake/lines.h"
#include "tests/fake/machines.h"

#define V1 IBV_GID_TYPE_ROCE_V1
#define V2 IBV_GID_TYPE_ROCE_V2
#define IB IBV_GID_TYPE_IB

#define OURS                    "::ffff:127.0.0.1"
#define OTHERS                  "::ffff:192.0.2.9"
#define ACTIVE(mtu)             .state = IBV_PORT_ACTIVE, IBV_MTU_##mtu
#define ONE_PORT(its_name, ...) .name = (its_name), .ports = { { __VA_ARGS__ } }

/* Both ports of the device have the address; of the first, only by RoCE v1. */
static const struct fake_machine two_ports = {
	{ { .name = "rxe0",
	    .ports = { { ACTIVE(512) }, { ACTIVE(2048) } },
	    .gids = { { "fe80::1", 1, 0, V2 },
		      { OTHERS, 1, 1, V2 },
		      { OURS, 1, 2, V1 },
		      { "fe80::2", 2, 0, V2 },
		      { OURS, 2, 1, V2 },
		      { OTHERS, 2, 2, V2 } } } },
};

/* The second one has the address, and so has the third. */
static const struct fake_machine three_devices = {
	{ { ONE_PORT("rxe0", ACTIVE(1024)),
	    .gids = { { "fe80::1", 1, 0, V2 }, { OTHERS, 1, 1, V2 } } },
	  { ONE_PORT("rxe1", ACTIVE(1024)),
	    .gids = { { "fe80::2", 1, 0, V2 }, { OURS, 1, 1, V2 } } },
	  { ONE_PORT("rxe2", ACTIVE(1024)),
	    .gids = { { "fe80::3", 1, 0, V2 }, { OURS, 1, 3, V2 } } } },
};

/* The greatest index that an address handle can have, and one more. */
static const struct fake_machine last_gid = {
	{ { ONE_PORT("rxe0", ACTIVE(1024)),
	    .gids = { { OTHERS, 1, 0, V2 }, { OURS, 1, 255, V2 } } } },
};
static const struct fake_machine gid_too_far = {
	{ { ONE_PORT("rxe0", ACTIVE(1024)),
	    .gids = { { OTHERS, 1, 0, V2 }, { OURS, 1, 256, V2 } } } },
};

#define WITH_MTU(mtu)                                                                         \
	{                                                                                     \
		{                                                                             \
			{                                                                     \
				ONE_PORT("rxe0", ACTIVE(mtu)), .gids = { { OURS, 1, 0, V2 } } \
			}                                                                     \
		}                                                                             \
	}
static const struct fake_machine mtu_256 = WITH_MTU(256), mtu_2048 = WITH_MTU(2048),
				 mtu_4096 = WITH_MTU(4096);

static const struct fake_machine not_yet_active = {
	{ { ONE_PORT("rxe0", IBV_PORT_INIT, IBV_MTU_1024), .gids = { { OURS, 1, 0, V2 } } } },
};

static const struct fake_machine without_address = {
	{ { ONE_PORT("rxe0", ACTIVE(1024)), .gids = { { OTHERS, 1, 0, V2 } } } },
};

/* An iWARP device has one GID, which is no address. */
static const struct fake_machine with_iwarp = {
	{ { ONE_PORT("siw0", ACTIVE(1024)), .iwarp = true,
	    .gids = { { "200:5eff:fe00::", 1, 0, IB } } },
	  { ONE_PORT("rxe0", ACTIVE(1024)), .gids = { { OURS, 1, 0, V2 } } } },
};

static const struct fake_machine infiniband = {
	{ { ONE_PORT("ib0", ACTIVE(4096), true, 0x2b),
	    .gids = { { "fe80::2:c903:1:2", 1, 0, IB } } } },
};

static const struct fake_machine with_ipv6 = {
	{ { ONE_PORT("rxe0", ACTIVE(1024)), .gids = { { OURS, 1, 0, V2 }, { "::1", 1, 1, V2 } } } },
};

#define BOTH CLIENT | SERVER | PING
/* The machine, and the numbers of device, port, GID and bytes a packet that are right there. */
#define ON(its_machine, ...) .machine = &(its_machine), .way = { __VA_ARGS__ }
const struct line bare_devices[] = {
	{ .what = "uses RoCE v2 on another port rather than v1",
	  .who = BOTH,
	  .config = { ON(two_ports, 0, 2, 1, 1024) } },
	{ .what = "uses the port that it is told to, and its MTU",
	  .who = BOTH,
	  .config = { ON(two_ports, 0, 1, 2, 512) },
	  .words = { WORK, "-q", "--device-port", "1" } },
	{ .what = "uses the GID with this index, of the port with the address",
	  .who = BOTH,
	  .config = { ON(two_ports, 0, 2, 2, 1024) },
	  .words = { WORK, "-q", "--gid-index", "2" } },
	{ .what = "uses the GID with this index of the port that it is told to",
	  .who = BOTH,
	  .config = { ON(two_ports, 0, 2, 0, 1024) },
	  .words = { WORK, "-q", "--device", "rxe0", "--gid-index", "0", "--device-port", "2" } },
	{ .what = "says that there is no such port",
	  .who = BOTH,
	  .config = { ON(two_ports, 0, 1, 0, 1024) },
	  .status = 1,
	  .said = "no RDMA device serves this address",
	  .words = { WORK, "-q", "--device-port", "3" } },
	{ .what = "says that there is no such GID",
	  .who = BOTH,
	  .config = { ON(two_ports, 0, 1, 0, 1024) },
	  .status = 1,
	  .said = "--gid-index: port 2 of rxe0 has no GID there",
	  .words = { WORK, "-q", "--gid-index", "3" } },
	{ .what = "uses the first device that has the address",
	  .who = BOTH,
	  .config = { ON(three_devices, 1, 1, 1, 1024) } },
	{ .what = "uses the device that it is told to",
	  .who = BOTH,
	  .config = { ON(three_devices, 2, 1, 3, 1024) },
	  .words = { WORK, "-q", "--device", "rxe2" } },
	{ .what = "says that the device does not have the address",
	  .who = BOTH,
	  .config = { ON(three_devices, 0, 1, 0, 1024) },
	  .status = 1,
	  .said = "no device rxe0 serves this address",
	  .words = { WORK, "-q", "--device", "rxe0" } },
	{ .what = "uses a GID of a device that does not have the address",
	  .who = BOTH,
	  .config = { ON(three_devices, 0, 1, 1, 1024) },
	  .words = { WORK, "-q", "--device", "rxe0", "--gid-index", "1" } },
	{ .what = "uses the last GID that an address handle can name",
	  .who = BOTH,
	  .config = { ON(last_gid, 0, 1, 255, 1024) } },
	{ .what = "uses the last GID that an address handle can name if it is told to",
	  .who = BOTH,
	  .config = { ON(last_gid, 0, 1, 255, 1024) },
	  .words = { WORK, "-q", "--gid-index", "255" } },
	{ .what = "does not use a GID that no address handle can name",
	  .who = BOTH,
	  .config = { ON(gid_too_far, 0, 1, 256, 1024) },
	  .status = 1,
	  .said = "no RDMA device serves this address" },
	{ .what = "takes no greater index",
	  .who = BOTH,
	  .status = 2,
	  .said = "--gid-index",
	  .words = { WORK, "-q", "--gid-index", "256" } },
	{ .what = "uses the port's MTU if that is less than 1024",
	  .who = BOTH,
	  .config = { ON(mtu_256, 0, 1, 0, 256) } },
	{ .what = "uses an MTU of 1024 if the port has more",
	  .who = BOTH,
	  .config = { ON(mtu_4096, 0, 1, 0, 1024) } },
	{ .what = "uses the MTU that it is told to, up to the port's",
	  .who = BOTH,
	  .config = { ON(mtu_2048, 0, 1, 0, 2048) },
	  .words = { WORK, "-q", "--mtu", "2048" } },
	{ .what = "says that the port does not take so large an MTU",
	  .who = BOTH,
	  .config = { ON(mtu_2048, 0, 1, 0, 2048) },
	  .status = 2,
	  .said = "--mtu 4096 is more than port 1 of rxe0 takes: at most 2048",
	  .words = { WORK, "-q", "--mtu", "4096" } },
	{ .what = "says that the port is not active",
	  .who = BOTH,
	  .config = { ON(not_yet_active, 0, 1, 0, 1024) },
	  .status = 1,
	  .said = "port 1 of rxe0 is PORT_INIT" },
	{ .what = "says that no device has the address",
	  .who = BOTH,
	  .config = { ON(without_address, 0, 1, 0, 1024) },
	  .status = 1,
	  .said = "127.0.0.1: no RDMA device serves this address" },
	{ .what = "uses no iWARP device though it is the first",
	  .who = BOTH,
	  .config = { ON(with_iwarp, 1, 1, 0, 1024) } },
	{ .what = "says that an iWARP device that it is told to use is one",
	  .who = BOTH,
	  .config = { ON(with_iwarp, 0, 1, 0, 1024) },
	  .status = 1,
	  .said = "siw0 is an iWARP device",
	  .words = { WORK, "-q", "--device", "siw0", "--gid-index", "0" } },
	{ .what = "connects on InfiniBand, by LID and GID",
	  .who = BOTH,
	  .config = { ON(infiniband, 0, 1, 0, 1024), .lid = 0x1c },
	  .words = { WORK, "-q", "--device", "ib0", "--gid-index", "0" } },
	{ .what = "connects on InfiniBand, by LID alone",
	  .who = BOTH,
	  .config = { ON(infiniband, 0, 1, 0, 1024), .lid = 0x1c, .no_gid = true },
	  .words = { WORK, "-q", "--device", "ib0", "--gid-index", "0" } },
	{ .what = "connects by IPv6",
	  .who = BOTH,
	  .config = { ON(with_ipv6, 0, 1, 1, 1024), .ipv6 = true },
	  .words = { "-a", "::1", "-c", "20", "-s", "200", "-q" } },
	{ .what = "names a client with an IPv6 address",
	  .who = SERVER | PING,
	  .config = { ON(with_ipv6, 0, 1, 1, 1024), .ipv6 = true, .untold = true,
		      .hangs_up = true },
	  .said = "the client at [" FAKE_PEER6 "]:40123 ended the exchange",
	  .words = { "-a", "::1", "-c", "20", "-s", "200", "-q" } },
	{ .what = "finds the device of a client that comes to any address",
	  .who = SERVER | PING,
	  .config = { ON(three_devices, 1, 1, 1, 1024) },
	  .words = { "-c", "20", "-s", "200", "-q" } },

	{ .what = "refuses a client that comes to any address if its device cannot do what it wants",
	  .who = SERVER | PING,
	  .config = { .max_message = LINE_SIZE - 1 },
	  .said = "client refused: -s 200 is more than rxe0 takes: at most 199 bytes a message",
	  .words = { "-c", "20", "-s", "200", "-q" } },
	{ 0 },
};
