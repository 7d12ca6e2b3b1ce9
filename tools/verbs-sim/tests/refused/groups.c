/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Multicast groups: of a QP, and of an id. See refused.h.
 */
#include "verbs-sim/tests/refused/refused.h"

void try_groups(void)
{
	static const uint8_t first[] = { 223, 240, 239, 224 }; /* bytes of IPv4 addresses */
	struct ibv_qp *qp = create_qp_of(&ends.client, IBV_QPT_UD);
	union ibv_gid group = { .raw = { [10] = 0xff, 0xff } };
	uint8_t n;
	size_t i;
	int ret;

	for (i = 0; i < LENGTH(first); i++) {
		group.raw[12] = first[i];
		printf("%u.0.0.0: %s\n", first[i], strerror(ibv_attach_mcast(qp, &group, 0)));
	}
	while (!(ret = ibv_attach_mcast(qp, &group, 0)))
		group.raw[15]++;
	printf("224.0.0.%u: %s\n", group.raw[15], strerror(ret));
	n = group.raw[15];
	group.raw[15] = 0;
	must(!ibv_attach_mcast(qp, &group, 0), "ibv_attach_mcast"); /* it is attached once */
	for (; group.raw[15] < n && !ibv_detach_mcast(qp, &group, 0); group.raw[15]++)
		printf("ibv_destroy_qp: %s\n", strerror(ibv_destroy_qp(qp)));
	group.raw[12] = 239;
	group.raw[15] = 0;
	printf("239.0.0.0: %s, ", strerror(ibv_detach_mcast(qp, &group, 0)));
	printf("ibv_destroy_qp: %s\n", strerror(ibv_destroy_qp(qp)));
}

/* An id joins two groups, and leaves the first before its event. */
void try_joining(void)
{
	struct sockaddr_in own = *(struct sockaddr_in *)rdma_get_local_addr(ends.listener);
	struct sockaddr_in groups[2] = { { .sin_family = AF_INET }, { .sin_family = AF_INET } };
	struct pollfd readable = { .fd = ends.events->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	int leaves, i;

	own.sin_port = 0;
	for (leaves = 0; leaves < 2; leaves++) {
		must(!rdma_create_id(ends.events, &id, NULL, RDMA_PS_UDP) &&
			     !rdma_bind_addr(id, (struct sockaddr *)&own),
		     "rdma_bind_addr");
		for (i = 0; i < 2; i++) {
			groups[i].sin_addr.s_addr = htonl(0xe0010203 + (uint32_t)i);
			must(!rdma_join_multicast(id, (struct sockaddr *)&groups[i],
						  i ? "second" : "first"),
			     "rdma_join_multicast");
		}
		if (leaves)
			rdma_leave_multicast(id, (struct sockaddr *)&groups[0]);
		printf("%s, then", leaves ? "leaves the first" : "joins");
		while (poll(&readable, 1, 100) == 1 && !rdma_get_cm_event(ends.events, &event)) {
			printf(" %s", (const char *)event->param.ud.private_data);
			rdma_ack_cm_event(event);
		}
		printf("\n");
		rdma_destroy_id(id);
	}
}
