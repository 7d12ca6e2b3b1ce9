/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, the verbs with which a program connects a QP without the connection manager
 * (CM): devices, GIDs, and the states of a QP. Contract: as in the man pages. Each QP has an id
 * that the program does not see. From RTR on it also has a peer: the one whose QP number was
 * exchanged. An attribute that differs from what was exchanged is reported.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "tests/fake/limits.h"
#include "tests/fake/sockets.h"

struct device_list {
	struct fake_object object;
	struct ibv_device *pub[FAKE_MAX_DEVICES + 1];
};

struct opened {
	struct fake_object object;
	LIST_ENTRY(opened) next;
	struct ibv_context *context;
	int pub;
};

static LIST_HEAD(opened_list, opened) all_opened;

struct ibv_device **ibv_get_device_list(int *n)
{
	struct fake_fault fault = fake_begin("ibv_get_device_list");
	struct device_list *list = fault.error ? NULL : fake_new(struct device_list, "device list");

	if (list)
		list->pub[0] = fake_get_device(0)->device;
	if (n)
		*n = 1;
	fake_end(fault.error);
	return list ? list->pub : NULL;
}

void ibv_free_device_list(struct ibv_device **list)
{
	fake_begin_sure("ibv_free_device_list");
	fake_retire(&fake_of(struct device_list, list)->object, "ibv_free_device_list");
	fake_end(0);
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct fake_fault fault = fake_begin("ibv_open_device");
	struct opened *opened = fault.error ? NULL : fake_new(struct opened, "open device");

	if (opened) {
		opened->context = fake_get_device(0);
		if (opened->context->device != device)
			fake_complain("ibv_open_device: no device of ours");
		LIST_INSERT_HEAD(&all_opened, opened, next);
	}
	fake_end(fault.error);
	return opened ? opened->context : NULL;
}

int ibv_close_device(struct ibv_context *context)
{
	struct fake_fault fault = fake_begin("ibv_close_device");
	struct opened *opened = LIST_FIRST(&all_opened);

	if (!opened || opened->context != context) {
		fake_complain("ibv_close_device: it is not open");
	} else {
		LIST_REMOVE(opened, next);
		fake_retire(&opened->object, "ibv_close_device");
	}
	return fake_end(fault.error) ? -1 : 0;
}

const char *ibv_port_state_str(enum ibv_port_state state)
{
	return state == IBV_PORT_ACTIVE ? "active" : "not active";
}

/* The address that all of the fake's sockets have: 127.0.0.1. */
void fake_own_gid(union ibv_gid *gid)
{
	inet_pton(AF_INET6, "::ffff:127.0.0.1", gid->raw);
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max,
			     uint32_t flags, size_t size)
{
	struct fake_fault fault = fake_begin("ibv_query_gid_table");
	const struct ibv_gid_entry all[] = {
		{ .gid_index = 0, .port_num = 1, .gid_type = IBV_GID_TYPE_ROCE_V2 },
		{ .gid_index = 1, .port_num = 1, .gid_type = IBV_GID_TYPE_ROCE_V1 },
		{ .gid_index = FAKE_GID_INDEX, .port_num = 1, .gid_type = IBV_GID_TYPE_ROCE_V2 },
	};

	(void)context;
	if (max < 3 || flags || size != sizeof(all[0]))
		fake_complain("ibv_query_gid_table: too little room for the GIDs");
	memcpy(entries, all, sizeof(all));
	inet_pton(AF_INET6, "fe80::1", entries[0].gid.raw);
	fake_own_gid(&entries[1].gid);
	fake_own_gid(&entries[2].gid);
	fake_end(fault.error);
	return fault.error ? -fault.error : 3;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pub, struct ibv_qp_init_attr *attr)
{
	struct fake_fault fault = fake_begin("ibv_create_qp");
	struct fake_pd *pd = fake_of(struct fake_pd, pub);
	uint32_t inline_wanted = attr->cap.max_inline_data;
	struct fake_id *id = NULL;

	if (!fault.error && !fake_use(&pd->object, "ibv_create_qp"))
		fault.error = EINVAL;
	if (!fault.error)
		fault.error = fake_grant(&attr->cap);
	if (!fault.error) {
		id = fake_new_id(NULL, NULL, true);
		id->pub.verbs = pub->context;
		fake_create_qp_for(id, pd, attr, inline_wanted);
		id->pub.qp->state = IBV_QPS_RESET;
		id->by_hand = true;
	}
	fake_end(fault.error);
	return id ? id->pub.qp : NULL;
}

int ibv_destroy_qp(struct ibv_qp *pub)
{
	struct fake_fault fault = fake_begin("ibv_destroy_qp");
	struct fake_qp *qp = fake_of(struct fake_qp, pub);
	struct fake_id *id = qp->id;

	if (fake_use(&qp->object, "ibv_destroy_qp")) {
		fake_end_qp(id, "ibv_destroy_qp");
		fake_end_id(id, "ibv_destroy_qp");
	}
	return fake_end(fault.error);
}

static int to_init(struct fake_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	if (mask != (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ||
	    attr->port_num != 1)
		return EINVAL;
	if (attr->qp_access_flags)
		fake_complain("QP %u: the peer has no business in our memory", qp->object.number);
	return 0;
}

static int to_rtr(struct fake_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	struct fake_line *line = fake_find_line(attr->dest_qp_num);

	if (mask != (IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) ||
	    !attr->ah_attr.is_global || attr->ah_attr.port_num != 1)
		return EINVAL;
	if (!line) {
		fake_complain("QP %u: no peer has told the QP number 0x%x", qp->object.number,
			      attr->dest_qp_num);
		return 0;
	}
	if (attr->rq_psn != line->psn || memcmp(&attr->ah_attr.grh.dgid, &line->gid, 16))
		fake_complain("QP %u: not the PSN or GID that the peer has told",
			      qp->object.number);
	if (attr->ah_attr.grh.sgid_index != FAKE_GID_INDEX || attr->path_mtu != IBV_MTU_1024)
		fake_complain("QP %u: not the GID of RoCE v2 of our address, or a wrong MTU",
			      qp->object.number);
	if (!qp->receives.n)
		fake_complain("QP %u: no receive is posted before RTR", qp->object.number);
	line->id = qp->id;
	qp->id->line = line;
	qp->id->peer = line->peer;
	line->peer->id = qp->id;
	return 0;
}

static int to_rts(struct fake_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	if (mask != (IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
		     IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC))
		return EINVAL;
	if (!attr->timeout || !attr->retry_cnt || attr->retry_cnt > 6 || !attr->rnr_retry)
		fake_complain("QP %u: waits for ever, or does not try again", qp->object.number);
	if (!qp->id->line)
		return 0; /* already reported */
	qp->id->state = FAKE_CONNECTED;
	qp->id->line->sq_psn = attr->sq_psn;
	fake_check_told(qp->id->line);
	return 0;
}

int fake_modify_by_hand(struct fake_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	enum ibv_qp_state from = qp->pub.state, to = attr->qp_state;

	if (!qp->id->by_hand)
		return 0;
	if (from == IBV_QPS_RESET && to == IBV_QPS_INIT)
		return to_init(qp, attr, mask);
	if (from == IBV_QPS_INIT && to == IBV_QPS_RTR)
		return to_rtr(qp, attr, mask);
	if (from == IBV_QPS_RTR && to == IBV_QPS_RTS)
		return to_rts(qp, attr, mask);
	fake_complain("ibv_modify_qp: not from state %d to %d", from, to);
	return EINVAL;
}
