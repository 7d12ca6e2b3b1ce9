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
#include "tests/fake/machines.h"
#include "tests/fake/sockets.h"

/* Codes of 0.13 s, more than a busy host takes to answer, and of 4.3 s. */
#define LEAST_TIMEOUT 15
#define MOST_TIMEOUT  20

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
	unsigned int i;

	for (i = 0; list && i < fake_count_adapters(); i++)
		list->pub[i] = fake_get_device(i)->device;
	if (n)
		*n = (int)fake_count_adapters();
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
	unsigned int i = 0;

	if (opened) {
		while (i < fake_count_adapters() - 1 && fake_get_device(i)->device != device)
			i++;
		opened->context = fake_get_device(i);
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

	while (opened && opened->context != context)
		opened = LIST_NEXT(opened, next);
	if (!opened) {
		fake_complain("ibv_close_device: it is not open");
	} else {
		LIST_REMOVE(opened, next);
		fake_retire(&opened->object, "ibv_close_device");
	}
	return fake_end(fault.error) ? -1 : 0;
}

const char *ibv_port_state_str(enum ibv_port_state state)
{
	static const char *const names[] = { "PORT_NOP",   "PORT_DOWN",   "PORT_INIT",
					     "PORT_ARMED", "PORT_ACTIVE", "PORT_ACTIVE_DEFER" };

	return names[state];
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max,
			     uint32_t flags, size_t size)
{
	struct fake_fault fault = fake_begin("ibv_query_gid_table");
	const struct fake_gid *gid = fake_adapter_of(context)->gids;
	size_t n = 0;

	if (flags || size != sizeof(*entries))
		fake_complain("ibv_query_gid_table: flags, or entries of another size");
	for (; n < max && gid[n].address; n++) {
		entries[n] = (struct ibv_gid_entry){ .gid_index = gid[n].index,
						     .port_num = gid[n].port,
						     .gid_type = gid[n].type };
		inet_pton(AF_INET6, gid[n].address, entries[n].gid.raw);
	}
	if (gid[n].address)
		fake_complain("ibv_query_gid_table: too little room for the GIDs");
	fake_end(fault.error);
	return fault.error ? -fault.error : (ssize_t)n;
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
	    attr->port_num != fake_right_way()->port)
		return EINVAL;
	if (qp->pub.context != fake_get_device(fake_right_way()->device))
		fake_complain("QP %u: not the device that has our address, or that was named",
			      qp->object.number);
	if (attr->qp_access_flags)
		fake_complain("QP %u: the peer has no business in our memory", qp->object.number);
	return 0;
}

/* What is wrong with the way to the peer's port. NULL: nothing. */
static const char *judge_way(const struct ibv_qp_attr *attr, const struct fake_line *line)
{
	const struct ibv_ah_attr *address = &attr->ah_attr;
	const struct fake_way *way = fake_right_way();

	if (address->is_global && memcmp(&address->grh.dgid, &line->gid, 16))
		return FAKE_WRONG_GID;
	if (!address->is_global !=
	    !(line->gid.global.interface_id || line->gid.global.subnet_prefix))
		return "a GRH without a GID, or a GID without a GRH";
	if (address->dlid != line->lid)
		return "not the LID that the peer has told";
	if (address->grh.sgid_index != way->gid_index)
		return "not the GID of RoCE v2 of our address, or that was named";
	if (address->grh.hop_limit < 2)
		return "no router would forward its packets";
	if (!attr->max_dest_rd_atomic)
		return "some devices refuse a depth of 0";
	if (attr->rq_psn != line->psn)
		return FAKE_WRONG_PSN;
	return 128u << attr->path_mtu == way->mtu ? NULL : "a wrong MTU";
}

static int to_rtr(struct fake_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	struct fake_line *line = fake_find_line(attr->dest_qp_num);
	const char *wrong;

	if (mask != (IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) ||
	    (!attr->ah_attr.is_global && !fake_right_port()->infiniband) ||
	    attr->ah_attr.port_num != fake_right_way()->port)
		return EINVAL;
	if (fake_config->rtr_error)
		return fake_config->rtr_error;
	wrong = line ? judge_way(attr, line) : FAKE_NO_SUCH_QPN;
	/* The program was told to make this mistake: that is enough. */
	if (fake_config->mistake && wrong && !strcmp(wrong, fake_config->mistake))
		return EINVAL;
	if (fake_config->mistake)
		wrong = "not the mistake that it was told to make";
	if (wrong)
		fake_complain("QP %u: %s", qp->object.number, wrong);
	if (!line)
		return 0;
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
		fake_complain("QP %u: waits forever, or does not try again", qp->object.number);
	if (attr->timeout < LEAST_TIMEOUT || attr->timeout > MOST_TIMEOUT || !attr->max_rd_atomic)
		fake_complain("QP %u: sends again too early or too late, or has a depth of 0",
			      qp->object.number);
	if (!qp->id->line)
		return 0; /* already reported */
	qp->id->state = FAKE_CONNECTED;
	qp->id->line->sq_psn = attr->sq_psn;
	fake_check_told(qp->id->line);
	return 0;
}

/*
 * The program ends the connection. A client that has closed TCP long ago cannot tell it that it has
 * the last message: only the completion does.
 */
void fake_check_last_send(const struct fake_qp *qp)
{
	if (qp->id->by_hand && qp->id->line && qp->id->peer->is_client && fake_config->closes_tcp &&
	    qp->sends.n && !fake_report->stopped)
		fake_complain("QP %u: its last message may be lost", qp->object.number);
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
