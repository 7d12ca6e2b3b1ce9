/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the question of probe.c about handles that name nothing: commands of both interfaces with a
 * handle that no object has, and with an id of another channel.
 */
#include "commands.h"
#include "probe.h"

#define NOBODY 4000 /* no object of the probe has this handle */

/* ---- Verbs ---- */

#define MADE(call) ((call) ? 0 : -1)
#define TELL(name, call)                                               \
	do {                                                           \
		int ret;                                               \
		errno = 0;                                             \
		ret = (call);                                          \
		told("%s: %s", name, strerror(ret < 0 ? errno : ret)); \
	} while (0)
#define TOLD(call) TELL(#call, call)

/* Does the same while an object has another handle. */
#define WITHOUT(object, call)                     \
	do {                                      \
		uint32_t kept = (object)->handle; \
		(object)->handle = NOBODY;        \
		TELL(#call, call);                \
		(object)->handle = kept;          \
	} while (0)

static void tell_pd(struct ibv_pd *pd, char *buffer)
{
	struct ibv_srq_init_attr pool = { .attr = { 1, 1, 0 } };
	struct ibv_ah_attr ah = { .port_num = 1, .is_global = 1 };

	WITHOUT(pd, MADE(ibv_reg_mr(pd, buffer, 1, 0)));
	WITHOUT(pd, MADE(ibv_create_srq(pd, &pool)));
	WITHOUT(pd, MADE(ibv_alloc_mw(pd, IBV_MW_TYPE_1)));
	if (pd->context->device->transport_type != IBV_TRANSPORT_IWARP) {
		must(!ibv_query_gid(pd->context, 1, 1, &ah.grh.dgid), "ibv_query_gid");
		ah.grh.sgid_index = 1;
		WITHOUT(pd, MADE(ibv_create_ah(pd, &ah)));
	}
	WITHOUT(pd, ibv_dealloc_pd(pd));
}

static void tell_queues(struct ends *e)
{
	struct ibv_srq_init_attr pool = { .attr = { 1, 1, 0 } };
	struct ibv_srq *srq = ibv_create_srq(e->client.pd, &pool);
	struct ibv_cq *cq = ibv_create_cq(e->client.id->verbs, 1, NULL, e->client.channel, 0);
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq };
	struct ibv_srq_attr limit = { .srq_limit = 1 };

	must(srq && cq, "ibv_create_srq or ibv_create_cq");
	init.cap = (struct ibv_qp_cap){ 1, 1, 1, 1, 0 };
	WITHOUT(cq, MADE(ibv_create_qp(e->client.pd, &init)));
	init.srq = srq;
	WITHOUT(srq, MADE(ibv_create_qp(e->client.pd, &init)));
	WITHOUT(e->client.pd, MADE(ibv_create_qp(e->client.pd, &init)));
	WITHOUT(cq, ibv_resize_cq(cq, 2));
	WITHOUT(cq, ibv_req_notify_cq(cq, 0));
	WITHOUT(cq, ibv_destroy_cq(cq));
	WITHOUT(srq, ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT));
	WITHOUT(srq, ibv_query_srq(srq, &limit));
	WITHOUT(srq, ibv_destroy_srq(srq));
}

/* Objects of another context, with higher handles than the first one ever has. */
static void tell_contexts(struct ends *e)
{
	struct ibv_context *other = ibv_open_device(e->client.id->verbs->device);
	struct ibv_comp_channel *channel = ibv_create_comp_channel(other);
	struct ibv_pd *pd = ibv_alloc_pd(other);
	struct ibv_srq_init_attr pool = { .attr = { 1, 1, 0 } };
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 0 } };
	struct ibv_cq *cq;
	int i;

	for (i = 0; i < 100; i++)
		must(ibv_reg_mr(pd, e->client.buffer, 1, 0), "ibv_reg_mr");
	cq = ibv_create_cq(other, 1, NULL, channel, 0);
	must(cq, "ibv_create_cq");
	init.send_cq = init.recv_cq = e->client.cq;
	TOLD(MADE(ibv_create_qp(e->client.pd, &init)));
	init.recv_cq = cq;
	TOLD(MADE(ibv_create_qp(e->client.pd, &init)));
	init.recv_cq = init.send_cq;
	init.srq = ibv_create_srq(pd, &pool);
	TOLD(MADE(ibv_create_qp(e->client.pd, &init)));
	TOLD(MADE(ibv_create_cq(e->client.id->verbs, 1, NULL, channel, 0)));
	channel->fd += 100;
	TOLD(MADE(ibv_create_cq(other, 1, NULL, channel, 0)));
}

static void tell_qp(struct ends *e)
{
	struct ibv_qp *qp = create_qp_of(&e->client, IBV_QPT_RC);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_qp_init_attr init;

	WITHOUT(qp, ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	WITHOUT(qp, ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	WITHOUT(qp, ibv_destroy_qp(qp));
	WITHOUT(e->client.mr, ibv_dereg_mr(e->client.mr));
}

void ask_handles(struct ends *e, int unused)
{
	struct rdma_event_channel *here = rdma_create_event_channel();
	struct rdma_event_channel *there = rdma_create_event_channel();
	uint32_t theirs = command_new_id(there->fd);
	int i;

	(void)unused;
	tell_pd(e->client.pd, e->client.buffer);
	tell_queues(e);
	tell_qp(e);
	tell_contexts(e);
	for (i = 0; command_name(i); i++) {
		told("%s of nobody's id: %s", command_name(i),
		     strerror(command_write(here->fd, i, NOBODY)));
		told("%s of another channel's id: %s", command_name(i),
		     strerror(command_write(here->fd, i, theirs)));
	}
}
