/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Disturbances of the hosts of programs: see disturbances.h.
 */
#include "verbs-sim/device/disturbances.h"

#define EACH_DISTURBANCE(it) \
	for (it = LIST_FIRST(&sim_world->devices->disturbances); it; it = LIST_NEXT(it, link))

static bool concerns(const struct sim_disturbance *disturbance, struct sim_host host)
{
	return disturbance->program == host.program &&
	       (!disturbance->device || !host.device || disturbance->device == host.device);
}

struct sim_disturbance *sim_find_disturbance(enum sim_disturbance_kind kind, struct sim_host host)
{
	struct sim_disturbance *it;

	EACH_DISTURBANCE(it)
	{
		if (it->kind == kind && concerns(it, host))
			return it;
	}
	return NULL;
}

static bool stops(const struct sim_disturbance *disturbance, struct sim_host from,
		  struct sim_host to)
{
	switch (disturbance->kind) {
	case SIM_SILENT:
	case SIM_DOWN:
	case SIM_NO_GID:
		return concerns(disturbance, from) || concerns(disturbance, to);
	case SIM_APART:
		return (concerns(disturbance, from) && disturbance->other == to.program) ||
		       (concerns(disturbance, to) && disturbance->other == from.program);
	default:
		return false;
	}
}

enum sim_passage sim_passage(struct sim_host from, struct sim_host to)
{
	enum sim_passage passage = SIM_PASSES;
	const struct sim_disturbance *it;

	EACH_DISTURBANCE(it)
	{
		if (stops(it, from, to) && !it->ends)
			return SIM_CUT_OFF;
		if (stops(it, from, to))
			passage = SIM_LOST;
	}
	return passage;
}

bool sim_loses(struct sim_host from, struct sim_host to)
{
	struct sim_disturbance *it;
	bool lost = false;

	EACH_DISTURBANCE(it)
	{
		if (it->kind == SIM_LOSSY && (concerns(it, from) || concerns(it, to)))
			lost |= !(++it->seen % it->every);
	}
	return lost;
}

bool sim_moves(const struct sim_gid *gid)
{
	return gid->type == IBV_GID_TYPE_ROCE_V2 && gid->gid.raw[12] != IN_LOOPBACKNET &&
	       IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)&gid->gid);
}

/* A place stays taken as long as a QP uses it, so the GID comes back behind all others. */
uint32_t sim_index_now(struct sim_host host, const struct sim_gid *gid)
{
	uint32_t i, last = 0, index = gid->index;
	const struct sim_disturbance *it;

	if (!sim_moves(gid))
		return index;
	if (sim_find_disturbance(SIM_NO_GID, host))
		return UINT32_MAX;
	for (i = 0; i < host.device->n_gids; i++) {
		if (host.device->gids[i].port == gid->port && host.device->gids[i].index > last)
			last = host.device->gids[i].index;
	}
	EACH_DISTURBANCE(it)
	{
		if (it->kind == SIM_MOVED && concerns(it, host))
			index += last;
	}
	return index;
}
