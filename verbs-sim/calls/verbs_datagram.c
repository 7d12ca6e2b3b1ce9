/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libibverbs: address handles, and the groups of multicast that a QP has joined.
 */
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/verbs.h"
#include "verbs-sim/transfer/transfer.h"

/* ---- Address handles ---- */

EXPORTED struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	const struct sim_device *device = device_of(pd->context);
	struct user_ah *ah;
	int error;

	SIM_CALL_OR(NULL, "ibv_create_ah", ENOMEM, EINVAL, ETIMEDOUT);
	error = device->traits.iwarp ? EOPNOTSUPP : sim_check_path(device, attr->port_num, attr);
	if (error)
		return sim_null(error);
	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;
	ah->sim = sim_create_ah(user_pd(pd)->sim, ah, attr);
	ah->head = (struct ibv_ah){ pd->context, pd, ah->sim->object.number };
	return &ah->head;
}

EXPORTED int ibv_destroy_ah(struct ibv_ah *ah)
{
	int ret = SIM_CALL("ibv_destroy_ah", EINVAL, ENOMEM);

	if (ret)
		return ret;
	sim_destroy_ah(user_ah(ah)->sim);
	free(ah);
	return 0;
}

/* The two addresses of what comes before a datagram's data; see transfer/datagram.c. */
static void read_header(const struct ibv_grh *grh, union ibv_gid *source, union ibv_gid *sink)
{
	const struct iphdr *v4 = (const struct iphdr *)((const uint8_t *)(grh + 1) - sizeof(*v4));

	*source = grh->sgid;
	*sink = grh->dgid;
	if (be32toh(grh->version_tclass_flow) >> 28 == 6)
		return;
	*source = *sink = (union ibv_gid){ .raw = { [10] = 0xff, [11] = 0xff } };
	memcpy(&source->raw[12], &v4->saddr, sizeof(v4->saddr));
	memcpy(&sink->raw[12], &v4->daddr, sizeof(v4->daddr));
}

EXPORTED int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc,
				 struct ibv_grh *grh, struct ibv_ah_attr *attr)
{
	union ibv_gid sink;

	sim_pass("ibv_init_ah_from_wc");
	*attr = (struct ibv_ah_attr){ .dlid = wc->slid, .sl = wc->sl, .port_num = port_num };
	if (!(wc->wc_flags & IBV_WC_GRH))
		return 0;
	attr->is_global = 1;
	attr->grh.hop_limit = 64;
	read_header(grh, &attr->grh.dgid, &sink);
	if (!sim_has_gid(device_of(context), &sink)) { /* it was sent to a group */
		errno = EINVAL;
		return -1;
	}
	attr->grh.sgid_index = (uint8_t)sim_gid_index(device_of(context), port_num, &sink);
	return 0;
}

EXPORTED struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc,
					      struct ibv_grh *grh, uint8_t port_num)
{
	struct ibv_ah_attr attr;

	return ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attr)
		       ? NULL
		       : ibv_create_ah(pd, &attr);
}

/* ---- Multicast ---- */

EXPORTED int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	int ret = SIM_CALL("ibv_attach_mcast", ENOMEM, EINVAL);

	(void)lid;
	return sim_number(ret ? ret : sim_attach(user_qp(qp)->sim, gid));
}

EXPORTED int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	int ret = SIM_CALL("ibv_detach_mcast", EINVAL, ENOMEM);

	(void)lid;
	return sim_number(ret ? ret : sim_detach(user_qp(qp)->sim, gid));
}
