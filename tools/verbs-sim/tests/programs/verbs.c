/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Objects of the libraries: forgotten, freed too early, filled, used after their end. See programs.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/rdma_cma.h>

#include "verbs-sim/tests/programs/programs.h"

int forget(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	return rdma_create_id(channel, &id, NULL, RDMA_PS_TCP);
}

/* Its event channel is the id's, too, which cannot be destroyed any more. */
int forget_id(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;
	int ret = rdma_create_id(channel, &id, NULL, RDMA_PS_TCP);

	rdma_destroy_event_channel(channel);
	return ret;
}

/* Prints the room of a CQ of 10, resized twice, and of a QP of 10 sends and 20 receives. */
int print_room(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(devices[0]);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = ibv_create_cq(context, 10, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .cap = { 10, 20, 1, 1, 0 }, .qp_type = IBV_QPT_RC
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	struct ibv_qp_attr attr;

	printf("%d ", cq->cqe);
	if (ibv_resize_cq(cq, 20))
		return 1;
	printf("%d ", cq->cqe);
	if (ibv_resize_cq(cq, 5) || ibv_resize_cq(cq, 0) != EINVAL ||
	    ibv_query_qp(qp, &attr, IBV_QP_CAP, &init))
		return 1;
	printf("%d %u %u\n", cq->cqe, attr.cap.max_send_wr, attr.cap.max_recv_wr);
	return ibv_destroy_qp(qp) || ibv_destroy_cq(cq) || ibv_dealloc_pd(pd) ||
	       ibv_close_device(context);
}

/* Holds other objects each second, and at last the same as at first. */
int hold(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(devices[0]);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	void *block = malloc(10000), *moved, *aligned;
	struct ibv_mr *mr;
	int fd, i;

	free(block);
	sleep(2);
	block = strdup("a block of the C library");
	aligned = aligned_alloc(64, 1024);
	sleep(1);
	moved = realloc(aligned, 3 * 1024);
	fd = dup(STDIN_FILENO);
	sleep(1);
	mr = ibv_reg_mr(pd, moved, 2000, IBV_ACCESS_LOCAL_WRITE);
	sleep(1);
	ibv_dereg_mr(mr);
	close(fd);
	free(moved);
	free(block);
	for (i = 0; i < 100; i++)
		free(calloc(i, 3));
	sleep(1);
	ibv_free_device_list(devices);
	return ibv_dealloc_pd(pd) || ibv_close_device(context);
}

/* A QP for which there is no memory, and as many SRQs as there is memory for, twice. */
int fill_memory(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(devices[0]);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .cap = { 1 << 20, 1, 1, 1, 0 }, .qp_type = IBV_QPT_RC
	};
	struct ibv_srq_init_attr large = { .attr = { .max_wr = 100000, .max_sge = 1 } };
	struct ibv_srq *srqs[1000];
	int round, n;

	if (ibv_create_qp(pd, &init) || errno != ENOMEM)
		return 1;
	for (round = 0; round < 2; round++) {
		n = 0;
		while (n < 1000 && (srqs[n] = ibv_create_srq(pd, &large)))
			n++;
		printf("%s", n && n < 1000 ? strerrorname_np(errno) : "no end");
		while (n)
			ibv_destroy_srq(srqs[--n]);
	}
	return ibv_destroy_cq(cq) || ibv_dealloc_pd(pd) || ibv_close_device(context);
}

/* A device takes posts in the error state, too. */
int post_unknown(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(devices[0]);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .cap = { 1, 1, 1, 1, 0 }, .qp_type = IBV_QPT_RC
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_TSO }, *bad;

	if (ibv_modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		return 1;
	attr.qp_state = IBV_QPS_ERR;
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE) || ibv_post_send(qp, &wr, &bad);
}

/* Prints the error of a failed call after others that succeeded. */
int print_errno_late(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct rdma_cm_id *id;

	rdma_create_id(channel, &id, NULL, RDMA_PS_TCP);
	errno = ENXIO;
	rdma_bind_addr(id, (struct sockaddr *)&address);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	usleep(1);
	puts(errno == ENXIO ? "ENXIO" : strerror(errno));
	return 0;
}

/* A PD cannot be freed while a region needs it, nor twice. */
int free_early(void)
{
	static char data[64];
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(list[0]);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_mr *mr = ibv_reg_mr(pd, data, sizeof(data), IBV_ACCESS_LOCAL_WRITE);

	printf("%s\n", strerrorname_np(ibv_dealloc_pd(pd)));
	ibv_dereg_mr(mr);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
	ibv_free_device_list(list);
	return 0;
}

/* Prints the first asynchronous event of the device. */
int await_async_event(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(list[0]);
	struct ibv_async_event event;

	if (ibv_get_async_event(context, &event))
		return 1;
	printf("%s, port %d\n", ibv_event_type_str(event.event_type), event.element.port_num);
	ibv_ack_async_event(&event);
	ibv_close_device(context);
	ibv_free_device_list(list);
	return 0;
}

/* For AddressSanitizer: an id is used after its end. */
int use_after_end(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		return 1;
	rdma_destroy_id(id);
	return id->port_num;
}
