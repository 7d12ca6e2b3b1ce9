/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Disturbances of the hosts of programs, and of the links between them, for as long as they last.
 *
 * Contract: each program has a host of its own, also if one device serves several. cm/disturb.c
 * begins and ends disturbances; everybody else only asks. Needs the turn.
 */
#ifndef VERBS_SIM_DEVICE_DISTURBANCES_H
#define VERBS_SIM_DEVICE_DISTURBANCES_H
#include "verbs-sim/device/devices.h"

enum sim_disturbance_kind {
	SIM_SILENT, /* nothing leaves the host of the program, nor arrives there */
	SIM_APART,  /* neither between it and that of the other */
	SIM_LOSSY,  /* one of `every` messages from or to it is lost */
	SIM_DOWN,   /* the ports of its device are down */
	SIM_NO_GID, /* its device has no IPv4 address: on RoCE no GID of one */
	SIM_MOVED /* on RoCE: its device had none for a while, so that they have other indices now */
};

struct sim_disturbance {
	LIST_ENTRY(sim_disturbance) link;
	enum sim_disturbance_kind kind;
	const struct sim_program *program, *other;
	const struct sim_device *device; /* NULL: all */
	uint32_t every, seen;            /* messages */
	bool ends;                       /* by itself, or because a program or a step will say so */
	struct sim_task end;
};

/* The ways in which a message between two hosts may end. */
enum sim_passage {
	SIM_PASSES,
	SIM_LOST,   /* now, and a later one may pass */
	SIM_CUT_OFF /* so are all to come */
};

/* The disturbance of this kind; NULL: there is none. Of any device, if host.device is NULL. */
struct sim_disturbance *sim_find_disturbance(enum sim_disturbance_kind kind, struct sim_host host);

/* Returns what would become of a message now. */
enum sim_passage sim_passage(struct sim_host from, struct sim_host to);

/* Returns true if this very message is lost on a lossy link, of which it is counted. */
bool sim_loses(struct sim_host from, struct sim_host to);

/* Returns true if this is the GID of an IPv4 address, which it loses, and finds elsewhere, with it. */
bool sim_moves(const struct sim_gid *gid);

/* The index that a GID has now on this host; UINT32_MAX: it is away. */
uint32_t sim_index_now(struct sim_host host, const struct sim_gid *gid);
#endif
