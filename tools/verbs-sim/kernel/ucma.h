/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Commands of the connection manager (rdma/rdma_user_cm.h). Contract: as for uverbs.h; the table is in
 * ucma.c.
 */
#ifndef VERBS_SIM_KERNEL_UCMA_H
#define VERBS_SIM_KERNEL_UCMA_H
#include <errno.h>
#include <netinet/in.h> /* must come before linux/in.h, which the kernel's headers include */

/* librdmacm's header and the kernel's both have these names. */
#define RDMA_PS_IPOIB                         UCMA_PS_IPOIB
#define RDMA_PS_TCP                           UCMA_PS_TCP
#define RDMA_PS_UDP                           UCMA_PS_UDP
#define RDMA_PS_IB                            UCMA_PS_IB
#define RDMA_MC_JOIN_FLAG_FULLMEMBER          UCMA_MC_JOIN_FLAG_FULLMEMBER
#define RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER UCMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER
#define RDMA_MC_JOIN_FLAG_RESERVED            UCMA_MC_JOIN_FLAG_RESERVED
#define RDMA_OPTION_ID                        UCMA_OPTION_ID
#define RDMA_OPTION_IB                        UCMA_OPTION_IB
#define RDMA_OPTION_ID_TOS                    UCMA_OPTION_ID_TOS
#define RDMA_OPTION_ID_REUSEADDR              UCMA_OPTION_ID_REUSEADDR
#define RDMA_OPTION_ID_AFONLY                 UCMA_OPTION_ID_AFONLY
#define RDMA_OPTION_ID_ACK_TIMEOUT            UCMA_OPTION_ID_ACK_TIMEOUT
#define RDMA_OPTION_IB_PATH                   UCMA_OPTION_IB_PATH
#include <rdma/rdma_user_cm.h>
#undef RDMA_PS_IPOIB
#undef RDMA_PS_TCP
#undef RDMA_PS_UDP
#undef RDMA_PS_IB
#undef RDMA_MC_JOIN_FLAG_FULLMEMBER
#undef RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER
#undef RDMA_MC_JOIN_FLAG_RESERVED
#undef RDMA_OPTION_ID
#undef RDMA_OPTION_IB
#undef RDMA_OPTION_ID_TOS
#undef RDMA_OPTION_ID_REUSEADDR
#undef RDMA_OPTION_ID_AFONLY
#undef RDMA_OPTION_ID_ACK_TIMEOUT
#undef RDMA_OPTION_IB_PATH

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"
#include "verbs-sim/cm/cm.h"
#include "verbs-sim/kernel/kernel.h"

/* An open /dev/infiniband/rdma_cm. */
struct ucma {
	struct sim_file file;
	struct sim_channel *channel; /* for events */
	bool is_probe;               /* librdmacm's, not the program's: see ucma_open */
};

/*
 * Finds the id of this number. Returns 0, ENOENT if the program has none, or EINVAL if it belongs to
 * another channel than the one that the command was written to.
 */
static inline int ucma_find(const struct ucma *ucma, uint32_t id, struct sim_endpoint **endpoint)
{
	*endpoint = kernel_find(SIM_ENDPOINT, id);
	if (!*endpoint)
		return ENOENT;
	return (*endpoint)->channel == ucma->channel ? 0 : EINVAL;
}

typedef int ucma_command(struct ucma *ucma, const void *in, void *out);

/* ---- ucma_ids.c ---- */
ucma_command ucma_create_id, ucma_destroy_id, ucma_migrate_id, ucma_bind_ip, ucma_resolve_ip;
ucma_command ucma_resolve_route, ucma_query_route, ucma_set_option, ucma_listen;

/* ---- ucma_connections.c ---- */
ucma_command ucma_connect, ucma_accept, ucma_reject, ucma_disconnect, ucma_init_qp_attr;
ucma_command ucma_notify, ucma_get_event;

/* ---- multicast.c ---- */
ucma_command ucma_join_ip_mcast, ucma_join_mcast, ucma_leave_mcast;

/* To be called when an id is destroyed: it leaves its groups. */
void ucma_destroy_groups(uint32_t id);

/*
 * For the event that an id has joined a group: makes the answer, which may be NULL, name the group.
 * Returns false if the id has left it.
 */
bool ucma_find_group(uint32_t id, const union ibv_gid *gid, struct rdma_ucm_event_resp *answer);
#endif
