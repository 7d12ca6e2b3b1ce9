/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * received: a program with both ends of a connection. "prints": it prints the bytes of each message
 * that it receives. "trusts" and "checks": its server copies as many bytes as a message says;
 * "checks" first compares that with the message's length. Takes nothing of the suite.
 */
#define DEPTH  4
#define BUFFER 256

#include <endian.h>

#include "verbs/two_ends.h"

#define ADDRESS "192.0.2.1"
#define ALL     (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)
#define SENT    10

static struct ends ends = { .param = { .private_data = "private",
				       .private_data_len = 8,
				       .responder_resources = 1,
				       .initiator_depth = 1,
				       .retry_count = 6,
				       .rnr_retry_count = 6 } };

static void print_bytes(const char *what, const void *data, size_t length)
{
	const uint8_t *bytes = data;
	size_t i;

	printf("%s: %zu bytes:", what, length);
	for (i = 0; i < length && i < 12; i++)
		printf(" %02x", bytes[i]);
	puts("");
}

static void print_request(struct rdma_cm_event *event)
{
	print_bytes("private data", event->param.conn.private_data,
		    event->param.conn.private_data_len);
}

static struct ibv_wc await(struct end *end, int wr_id)
{
	struct ibv_wc wc = { .wr_id = 0 };

	while ((int)wc.wr_id != wr_id) {
		while (!ibv_poll_cq(end->cq, 1, &wc))
			;
		if (wc.status)
			exit(4); /* the message was too long */
	}
	return wc;
}

/* Posts a READ or WRITE of 8 bytes of the server's memory. */
static void reach(enum ibv_wr_opcode opcode, unsigned int offset)
{
	struct ibv_sge sge = { (uintptr_t)ends.client.buffer + 64, 8, ends.client.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 'x', .sg_list = &sge, .num_sge = 1 }, *bad;

	wr.opcode = opcode;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.imm_data = htonl(0x01020304);
	wr.wr.rdma.remote_addr = (uintptr_t)ends.server.buffer + offset;
	wr.wr.rdma.rkey = ends.server.mr->rkey;
	must(!ibv_post_send(ends.client.id->qp, &wr, &bad), "ibv_post_send");
	await(&ends.client, 'x');
}

/* soft-iWARP has no immediate data. */
static void print_what_comes(void)
{
	bool iwarp = ends.client.id->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
	struct ibv_wc wc;

	memcpy(ends.client.buffer, "0123456789", SENT);
	must(!post_recv(&ends.server, 64) && !post_recv(&ends.server, 64), "ibv_post_recv");
	must(!post_send(&ends.client, SENT, IBV_SEND_SIGNALED), "ibv_post_send");
	wc = await(&ends.server, 'r');
	print_bytes("send", ends.server.buffer, wc.byte_len);
	memcpy(ends.client.buffer + 64, "abcdefgh", 8);
	reach(iwarp ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_WRITE_WITH_IMM, 128);
	wc = iwarp ? wc : await(&ends.server, 'r');
	reach(IBV_WR_RDMA_READ, 128);
	print_bytes("WRITE", ends.server.buffer + 128, 8);
	if (!iwarp)
		print_bytes("immediate data", &wc.imm_data, sizeof(wc.imm_data));
	print_bytes("READ", ends.client.buffer + 64, 8);
}

/* A message is a number of bytes, and these bytes. */
static int copy_what_comes(bool checks)
{
	static char copy[BUFFER];
	uint32_t length = htobe32(SENT);
	struct ibv_wc wc;

	memcpy(ends.client.buffer, &length, sizeof(length));
	must(!post_recv(&ends.server, BUFFER), "ibv_post_recv");
	must(!post_send(&ends.client, sizeof(length) + SENT, 0), "ibv_post_send");
	wc = await(&ends.server, 'r');
	memcpy(&length, ends.server.buffer, sizeof(length));
	length = be32toh(length);
	if (checks && (wc.byte_len < sizeof(length) || length > wc.byte_len - sizeof(length)))
		return 1;
	memcpy(copy, ends.server.buffer + sizeof(length), length);
	return 0;
}

static void tear_down(struct end *end)
{
	rdma_destroy_qp(end->id);
	ibv_dereg_mr(end->mr);
	ibv_destroy_cq(end->cq);
	ibv_destroy_comp_channel(end->channel);
	ibv_dealloc_pd(end->pd);
	rdma_destroy_id(end->id);
	free(end->buffer);
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	bool prints = argc == 2 && !strcmp(argv[1], "prints");
	int ret = 0;

	ends.on_request = prints ? print_request : NULL;
	inet_pton(AF_INET, ADDRESS, &address.sin_addr);
	connect_ends(&ends, &address);
	ibv_dereg_mr(ends.server.mr);
	ends.server.mr = ibv_reg_mr(ends.server.pd, ends.server.buffer, BUFFER, ALL);
	must(ends.server.mr, "ibv_reg_mr");
	if (prints)
		print_what_comes();
	else
		ret = copy_what_comes(argc == 2 && !strcmp(argv[1], "checks"));
	tear_down(&ends.client);
	tear_down(&ends.server);
	rdma_destroy_id(ends.listener);
	rdma_destroy_event_channel(ends.events);
	return ret;
}
