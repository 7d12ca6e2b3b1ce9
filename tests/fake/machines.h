/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, the devices of the machine, their ports and GIDs, among which a program that
 * connects without the connection manager (CM) has to choose. Contract: config.machine describes
 * them; config.way is the right choice.
 */
#ifndef FAKE_MACHINES_H
#define FAKE_MACHINES_H

#include "tests/fake/state.h"

#define FAKE_MOST_GIDS  6
#define FAKE_MOST_PORTS 2

/* What may be wrong about the peer: config.mistake. */
#define FAKE_NO_SUCH_QPN "no peer has told this QP number"
#define FAKE_WRONG_GID   "not the GID that the peer has told"
#define FAKE_WRONG_PSN   "not the PSN that the peer has told"

struct fake_port {
	enum ibv_port_state state;
	enum ibv_mtu mtu;
	bool infiniband; /* otherwise Ethernet */
	uint16_t lid;
};

struct fake_gid {
	const char *address; /* as IPv6; NULL: the end of the list */
	uint32_t port, index, type;
};

struct fake_adapter {
	const char *name; /* NULL: the end of the list */
	bool iwarp;
	struct fake_port ports[FAKE_MOST_PORTS]; /* of state 0: there is none */
	struct fake_gid gids[FAKE_MOST_GIDS + 1];
};

struct fake_machine {
	struct fake_adapter adapters[3 + 1];
};

unsigned int fake_count_adapters(void);
const struct fake_adapter *fake_adapter(unsigned int number);
/* That of a device's context. */
const struct fake_adapter *fake_adapter_of(const struct ibv_context *context);
/* Returns false if there is no such port. */
bool fake_fill_port(const struct ibv_context *context, unsigned int number,
		    struct ibv_port_attr *attr);

/* What is right: config.way, or the only choice. */
const struct fake_way *fake_right_way(void);
const struct fake_port *fake_right_port(void);
void fake_right_gid(union ibv_gid *gid);

#endif
