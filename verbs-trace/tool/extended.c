/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: extended queues. See extended.h.
 */
#include <stdlib.h>

#include "hooks.h"
#include "verbs-trace/tool/extended.h"
#include "verbs-trace/tool/watch.h"

const struct ibv_qp_ex *extended_qp_ex(const struct ibv_qp_ex *qp)
{
	return object_of(KIND_QP, qp)->functions;
}

const struct ibv_cq_ex *extended_cq_ex(const struct ibv_cq_ex *cq)
{
	return object_of(KIND_CQ, cq)->functions;
}

void after_ibv_qp_to_qp_ex(struct call *call, struct ibv_qp *qp, struct ibv_qp_ex *ret)
{
	struct object *object = object_made(KIND_QP, qp, false, call_moment(call));

	if (!ret || !object || object->functions)
		return;
	object->functions = malloc(sizeof(*ret));
	if (!object->functions)
		return;
	*(struct ibv_qp_ex *)object->functions = *ret;
	install_qp_ex(ret, object->functions);
	if (object->send_cq)
		object->send_cq->uncounted = true; /* its work requests are made by several calls */
}

void after_ibv_create_cq_ex(struct call *call, struct ibv_context *context,
			    struct ibv_cq_init_attr_ex *init_attr, struct ibv_cq_ex *ret)
{
	struct object *object = object_of(KIND_CQ, ret);

	(void)context;
	if (call->error || !object)
		return;
	watch_new_cq(object, ret->cqe, init_attr->channel);
	object->wc_flags = init_attr->wc_flags;
	object->functions = malloc(sizeof(*ret));
	if (!object->functions)
		return;
	*(struct ibv_cq_ex *)object->functions = *ret;
	install_cq_ex(ret, object->functions);
}
