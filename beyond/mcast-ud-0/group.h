/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Code that client.c and server.c share: a UD QP that is a member of a group, and its memory. A
 * file that includes this header defines NAME first.
 */
#ifndef GROUP_H
#define GROUP_H

#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRH  40           /* bytes in front of what is received: the global route header */
#define SLOT (GRH + 4096) /* room for the longest datagram of any device */
#define LAST UINT64_MAX   /* the number of a message that says that there are no more */

struct member {
	struct rdma_cm_id *id;
	struct rdma_ud_param group; /* the path to the group; its QP number is 0xffffff */
	struct sockaddr *address;   /* the group's address */
	uint8_t *memory;
	struct ibv_mr *mr;
};

static inline int failed(const char *call, int error, const char *cause)
{
	if (error <= 0) /* ibv_poll_cq returns -1, not an errno value */
		error = EIO;
	fprintf(stderr, NAME ": %s: %s (%d)%s%s\n", call, strerror(error), error,
		*cause ? ": " : "", cause);
	return error;
}

static inline struct addrinfo *look_up(const char *text)
{
	struct addrinfo *found = NULL;
	int ret = getaddrinfo(text, NULL, NULL, &found);

	if (ret)
		fprintf(stderr, NAME ": %s: %s\n", text, gai_strerror(ret));
	return found;
}

/* Creates an id that is bound to the device's own address, and so to the port of the group. */
static inline int create_id(struct member *member, struct sockaddr *own)
{
	if (rdma_create_id(NULL, &member->id, NULL, RDMA_PS_UDP))
		return failed("rdma_create_id", errno, "");
	if (rdma_bind_addr(member->id, own))
		return failed("rdma_bind_addr", errno, "");
	return member->id->verbs
		       ? 0
		       : failed("OWN-ADDRESS", EINVAL, "this is no address of an RDMA device");
}

/* Creates a QP that is ready at once, and memory for `receives` receives, at least one. */
static inline int create_qp(struct member *member, uint32_t receives)
{
	struct ibv_qp_init_attr attr = { .cap = { 1, receives, 1, 1, 0 },
					 .qp_type = IBV_QPT_UD,
					 .sq_sig_all = 1 };

	if (rdma_create_qp(member->id, NULL, &attr))
		return failed("rdma_create_qp", errno,
			      errno == EOPNOTSUPP ? "no multicast here, as on any iWARP device"
						  : "");
	member->memory = calloc(receives, SLOT);
	if (!member->memory)
		return failed("calloc", errno, "");
	member->mr = rdma_reg_msgs(member->id, member->memory, (size_t)receives * SLOT);
	return member->mr ? 0 : failed("rdma_reg_msgs", errno, "see ulimit -l");
}

/*
 * Joins the group. From then on the network brings the group's messages, and the QP takes them,
 * because librdmacm has also called ibv_attach_mcast. The event has to be acked before
 * rdma_leave_multicast.
 */
static inline int join_group(struct member *member)
{
	struct rdma_cm_event *event;

	if (rdma_join_multicast(member->id, member->address, NULL))
		return failed("rdma_join_multicast", errno,
			      errno == 524 ? "RoCE v2 has groups of IPv4 only" : "");
	event = member->id->event;
	if (event->event != RDMA_CM_EVENT_MULTICAST_JOIN) {
		fprintf(stderr, NAME ": rdma_join_multicast: %s\n", rdma_event_str(event->event));
		return ECONNABORTED;
	}
	member->group = event->param.ud;
	rdma_ack_cm_event(event);
	member->id->event = NULL;
	return 0;
}

/* Undoes as much as has been done. */
static inline void destroy_member(struct member *member)
{
	if (member->group.qp_num)
		rdma_leave_multicast(member->id, member->address); /* ibv_detach_mcast, too */
	if (member->id && member->id->qp)
		rdma_destroy_qp(member->id); /* the QP's receives point to the memory */
	if (member->mr)
		rdma_dereg_mr(member->mr);
	free(member->memory);
	if (member->id)
		rdma_destroy_id(member->id);
}

#endif
