/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Multicast groups, by commands of uverbs and ucma. An id joins one, and after the event librdmacm
 * attaches the id's QP. See uverbs.h and ucma.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "verbs-sim/kernel/ucma.h"
#include "verbs-sim/kernel/uverbs.h"
#include "verbs-sim/transfer/transfer.h"

/* ---- QPs ---- */

int uverbs_attach_mcast(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_attach_mcast *request = in;
	struct sim_qp *qp = uverbs_find(uverbs, SIM_QP, request->qp_handle);
	union ibv_gid gid;

	(void)out;
	if (!qp)
		return ENOENT;
	memcpy(&gid, request->gid, sizeof(gid));
	return sim_attach(qp, &gid);
}

int uverbs_detach_mcast(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_detach_mcast *request = in;
	struct sim_qp *qp = uverbs_find(uverbs, SIM_QP, request->qp_handle);
	union ibv_gid gid;

	(void)out;
	if (!qp)
		return ENOENT;
	memcpy(&gid, request->gid, sizeof(gid));
	return sim_detach(qp, &gid);
}

/* ---- Ids ---- */

/* A group that an id of this program has joined: it has a number of its own, and events. */
struct group {
	LIST_ENTRY(group) link;
	uint32_t number, id, reported;
	uint64_t uid; /* the library's name for it */
	union ibv_gid gid;
};
static LIST_HEAD(groups, group) groups = LIST_HEAD_INITIALIZER(groups);

static int join(struct ucma *ucma, uint32_t id, uint64_t uid, const struct sockaddr *address,
		struct rdma_ucm_create_id_resp *answer)
{
	struct sim_endpoint *endpoint;
	static uint32_t numbers;
	struct group *group;
	int ret = ucma_find(ucma, id, &endpoint);

	if (ret)
		return ret;
	group = calloc(1, sizeof(*group));
	if (!group)
		return ENOMEM;
	ret = sim_join(endpoint, address, &group->gid);
	if (ret) {
		free(group);
		return ret;
	}
	group->number = answer->id = ++numbers;
	group->id = id;
	group->uid = uid;
	LIST_INSERT_HEAD(&groups, group, link);
	return 0;
}

int ucma_join_ip_mcast(struct ucma *ucma, const void *in, void *out)
{
	const struct rdma_ucm_join_ip_mcast *request = in;

	return join(ucma, request->id, request->uid, (const struct sockaddr *)&request->addr, out);
}

int ucma_join_mcast(struct ucma *ucma, const void *in, void *out)
{
	const struct rdma_ucm_join_mcast *request = in;

	return join(ucma, request->id, request->uid, (const struct sockaddr *)&request->addr, out);
}

/* The request has the number of the group. */
int ucma_leave_mcast(struct ucma *ucma, const void *in, void *out)
{
	const struct rdma_ucm_destroy_id *request = in;
	struct rdma_ucm_destroy_id_resp *answer = out;
	struct group *group = LIST_FIRST(&groups);

	(void)ucma;
	while (group && group->number != request->id)
		group = LIST_NEXT(group, link);
	if (!group)
		return ENOENT;
	answer->events_reported = group->reported;
	LIST_REMOVE(group, link);
	free(group);
	return 0;
}

void ucma_destroy_groups(uint32_t id)
{
	struct group *group, *next;

	for (group = LIST_FIRST(&groups); group; group = next) {
		next = LIST_NEXT(group, link);
		if (group->id != id)
			continue;
		LIST_REMOVE(group, link);
		free(group);
	}
}

bool ucma_find_group(uint32_t id, const union ibv_gid *gid, struct rdma_ucm_event_resp *answer)
{
	struct group *group;

	for (group = LIST_FIRST(&groups); group; group = LIST_NEXT(group, link)) {
		if (group->id != id || memcmp(&group->gid, gid, sizeof(*gid)))
			continue;
		if (answer) {
			group->reported++;
			answer->uid = group->uid;
			answer->id = group->number;
		}
		return true;
	}
	return false;
}
