/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * WRITEs stdin into the memory of write_server, block by block, and announces each block by
 * immediate data: see write_server.c. Each block is a list of two work requests, of which only the
 * second makes completions, at both sides. An empty block is the end.
 *
 *     write_client ADDRESS [PORT] <FILE
 */
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "our_control.h"

#define SLOTS 8 /* blocks under way, at most; each has a buffer, and a receive for its answer */
#define SIZE  65536

/* The private data of the accept, big-endian. Block n goes into slot n % slots. */
struct where {
	uint64_t address;
	uint32_t rkey, slots, size, zero;
};

struct outbox {
	struct our_control *client;
	uint64_t address; /* the server's slots, with their key, number and size */
	uint32_t rkey, slots, size;
	/* Blocks: one that has been sent leaves the send queue; an answer frees its slot and its
	 * buffer, which soft-iWARP may still need when it has been sent. */
	unsigned long written, sent, answered;
	bool at_end;
};

static void report(void *context, const struct our_error *error)
{
	char text[600];

	(void)context;
	fprintf(stderr, "write_client: %s\n", our_error_text(error, text, sizeof(text)));
}

/*
 * Requests of one QP arrive in the order of posting, and the server's receive completes only when all
 * that was written before is in its memory. The WRITE alone would make no completion there, and on
 * some transports its completion here does not show that the data have arrived.
 */
static int post_block(struct outbox *box, uint32_t length)
{
	struct our_buffer *buffer = &box->client->memory.buffers[box->written % SLOTS];
	bool iwarp = box->client->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
	uint32_t number = htobe32(length);
	struct ibv_sge data = buffer->send_sge, message = buffer->send_sge;
	struct ibv_send_wr tell = {
		.wr_id = box->written % SLOTS,
		.opcode = iwarp ? IBV_WR_SEND : IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm_data = iwarp ? 0 : number,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &message,
		.num_sge = iwarp ? 1 : 0,
	};
	struct ibv_send_wr write = {
		.opcode = IBV_WR_RDMA_WRITE,
		.next = &tell,
		.sg_list = &data,
		.num_sge = 1,
		.wr.rdma = { box->address + box->written % box->slots * box->size, box->rkey },
	};

	data.length = length;
	message.addr += SIZE; /* after the block */
	message.length = sizeof(number);
	memcpy(buffer->data + SIZE, &number, sizeof(number));
	box->written++;
	return our_post(box->client, length ? &write : &tell, NULL);
}

static int write_next(struct outbox *box)
{
	uint8_t *data = box->client->memory.buffers[box->written % SLOTS].data;
	size_t length = fread(data, 1, box->size, stdin);

	if (ferror(stdin)) {
		fprintf(stderr, "write_client: reading: %s\n", strerror(errno));
		return EIO;
	}
	box->at_end = !length;
	return post_block(box, (uint32_t)length);
}

static int wait_for_something(struct outbox *box)
{
	struct our_completion completion;
	int ret = our_await_completion(box->client, &completion);

	if (ret)
		return ret;
	if (!our_is_recv(completion.wr_id)) {
		box->sent++;
		return 0;
	}
	if (box->answered == box->written) {
		fprintf(stderr, "write_client: the server answers more than we wrote\n");
		return EPROTO;
	}
	box->answered++;
	return our_post_recv(box->client, our_buffer_index(completion.wr_id));
}

static int write_all(struct outbox *box)
{
	bool has_slot, has_room;
	int ret = 0;

	while (!ret && (!box->at_end || box->answered < box->written)) {
		has_slot = box->written - box->answered < box->slots;
		has_room = box->written - box->sent < SLOTS;
		if (!box->at_end && has_slot && has_room)
			ret = write_next(box);
		else
			ret = wait_for_something(box);
	}
	return ret;
}

static int write_stdin(struct our_control *client)
{
	struct outbox box = { .client = client };
	struct where where;
	int ret;

	memcpy(&where, client->cm_event.private_data, sizeof(where)); /* from the accept */
	box.address = be64toh(where.address);
	box.rkey = be32toh(where.rkey);
	box.slots = be32toh(where.slots) < SLOTS ? be32toh(where.slots) : SLOTS;
	box.size = be32toh(where.size);
	if (!box.slots || !box.size || box.size > SIZE) {
		fprintf(stderr, "write_client: this is no write_server\n");
		return EPROTO;
	}
	if (client->config->keepalive_s)
		client->wait_until_ns = UINT64_MAX; /* the server may be slow, but is there */
	ret = our_report_end(client, write_all(&box));
	if (ret == ECONNRESET)
		fprintf(stderr, "write_client: the server has left\n");
	fprintf(stderr, "write_client: %lu blocks\n", box.written);
	client->complete = !ret;
	return ret;
}

static int run(struct our_config *config, struct sockaddr *server)
{
	struct our_control *client;
	uint32_t i;
	int ret;

	ret = our_create_control_struct(config, OUR_CLIENT, &client);
	if (!ret)
		ret = our_create_id(client);
	if (!ret)
		ret = our_client_bind(client, server);
	if (!ret && client->verbs->device->transport_type == IBV_TRANSPORT_IWARP)
		config->keepalive_s = 0; /* see write_server.c */
	if (!ret)
		ret = our_setup_qp(client, 2 * SLOTS, SLOTS);
	if (!ret)
		ret = our_setup_buffers(client, 2 * SLOTS, SIZE + sizeof(uint32_t),
					IBV_ACCESS_LOCAL_WRITE);
	for (i = SLOTS; !ret && i < 2 * SLOTS; i++)
		ret = our_post_recv(client, i);
	if (!ret)
		ret = our_client_connect(client, NULL, 0);
	if (!ret)
		ret = write_stdin(client);
	our_close(client);
	return ret;
}

int main(int argc, char **argv)
{
	struct our_config config = {
		.waiting = { .cm = &our_cm_nonblocking, .completions = &our_nonblocking_channel },
		.report = report,
		.timeout_s = 60,
		.keepalive_s = 5,
	};
	struct addrinfo *server;
	int ret;

	if (argc < 2) {
		fprintf(stderr, "usage: write_client ADDRESS [PORT] <FILE\n");
		return 2;
	}
	ret = getaddrinfo(argv[1], argc > 2 ? argv[2] : "12321", NULL, &server);
	if (ret) {
		fprintf(stderr, "write_client: %s: %s\n", argv[1], gai_strerror(ret));
		return 2;
	}
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	ret = run(&config, server->ai_addr);
	freeaddrinfo(server);
	return ret ? 1 : 0;
}
