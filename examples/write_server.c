/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * When has a WRITE arrived? write_client WRITEs blocks into this server's memory, and the server learns
 * of each by a receive: the client's WRITE with immediate data completes one, after all that the client
 * has written before. It writes the blocks to stdout, and tells the client which memory is free.
 *
 *     write_server ADDRESS [PORT] >FILE
 *
 * Looking at the memory instead would not suffice: bytes may appear in any order. soft-iWARP has no
 * immediate data; there a send of four bytes does the same. It has no keepalive either, so nobody
 * notices there that the client's host has died.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "our_control.h"

#define SLOTS  8 /* blocks that may be under way; each has a receive */
#define SIZE   65536
#define ANSWER SLOTS /* the buffer after those of the receives; an answer has no bytes */

/* The private data of the accept, big-endian. Block n goes into slot n % slots. */
struct where {
	uint64_t address;
	uint32_t rkey, slots, size, zero;
};

struct inbox {
	struct our_control *agent;
	uint32_t owed, answering; /* answers to post, and answers posted but not completed */
	bool at_end;              /* an empty block has come */
	unsigned long blocks;
};

static uint8_t slots[SLOTS][SIZE]; /* the memory that the client writes */

static void report(void *context, const struct our_error *error)
{
	char text[600];

	(void)context;
	fprintf(stderr, "write_server: %s\n", our_error_text(error, text, sizeof(text)));
}

/* Gets the length of the block from the immediate data, or from a message of four bytes. */
static int get_length(const struct inbox *inbox, const struct our_completion *completion,
		      uint32_t *length)
{
	uint32_t index = our_buffer_index(completion->wr_id);

	*length = completion->immediate;
	if (completion->has_immediate)
		return 0;
	if (completion->byte_len != sizeof(*length)) {
		fprintf(stderr, "write_server: a message of %u bytes is no length of a block\n",
			completion->byte_len);
		return EPROTO;
	}
	memcpy(length, inbox->agent->memory.buffers[index].data, sizeof(*length));
	*length = be32toh(*length);
	return 0;
}

/* Takes a block, which is in its slot, because the receive completes after all WRITEs before it. */
static int take_block(struct inbox *inbox, const struct our_completion *completion)
{
	uint32_t length;
	int ret = get_length(inbox, completion, &length);

	if (ret)
		return ret;
	if (length > SIZE) {
		fprintf(stderr, "write_server: a block cannot have %u bytes\n", length);
		return EPROTO;
	}
	if (fwrite(slots[inbox->blocks % SLOTS], 1, length, stdout) < length) {
		fprintf(stderr, "write_server: writing: %s\n", strerror(errno));
		return EIO;
	}
	inbox->at_end = !length;
	inbox->blocks++;
	inbox->owed++;
	return our_post_recv(inbox->agent, our_buffer_index(completion->wr_id));
}

/* Sends as many answers as the send queue has places for. The others wait for a completion. */
static int answer(struct inbox *inbox)
{
	int ret = 0;

	for (; !ret && inbox->owed && inbox->answering < SLOTS; inbox->owed--) {
		ret = our_post_send(inbox->agent, ANSWER, 0);
		inbox->answering++;
	}
	return ret;
}

static int receive_all(struct inbox *inbox)
{
	struct our_completion completion;
	int ret = 0;

	while (!ret && (!inbox->at_end || inbox->owed)) {
		ret = our_await_completion(inbox->agent, &completion);
		if (ret)
			break;
		if (our_is_recv(completion.wr_id))
			ret = take_block(inbox, &completion);
		else
			inbox->answering--;
		if (!ret)
			ret = answer(inbox);
	}
	return ret;
}

static int prepare(struct our_config *config, struct our_control *agent, struct ibv_mr **mr)
{
	uint32_t i;
	int ret;

	/* soft-iWARP ends a connection if a keepalive, which is a READ there, meets a WRITE. */
	if (agent->verbs->device->transport_type == IBV_TRANSPORT_IWARP)
		config->keepalive_s = 0;
	ret = our_migrate_id(agent);
	if (!ret)
		ret = our_setup_qp(agent, SLOTS, SLOTS);
	if (!ret)
		ret = our_setup_mr(agent, slots, sizeof(slots),
				   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, mr);
	if (!ret)
		ret = our_setup_buffers(agent, SLOTS + 1, sizeof(uint32_t), IBV_ACCESS_LOCAL_WRITE);
	for (i = 0; !ret && i < SLOTS; i++)
		ret = our_post_recv(agent, i);
	return ret;
}

static int serve(struct our_config *config, struct our_control *agent)
{
	struct where where = { .slots = htobe32(SLOTS), .size = htobe32(SIZE) };
	struct inbox inbox = { .agent = agent };
	struct ibv_mr *mr = NULL;
	int ret;

	ret = prepare(config, agent, &mr);
	if (!ret) {
		where.address = htobe64((uintptr_t)mr->addr);
		where.rkey = htobe32(mr->rkey);
		ret = our_agent_connect(agent, &where, sizeof(where));
		agent->wait_until_ns = UINT64_MAX; /* the client may wait for its stdin */
	}
	if (!ret)
		ret = our_report_end(agent, receive_all(&inbox));
	if (ret == ECONNRESET)
		fprintf(stderr, "write_server: the client has left before its end\n");
	if (!ret) {
		ret = our_await_disconnect(agent, 10);
		if (ret == ETIMEDOUT) /* the client stays, but has nothing more to send */
			ret = 0;
	}
	if (mr) {
		our_disconnect(agent); /* nobody writes any more */
		our_unsetup_mr(agent->config, mr);
	}
	our_close(agent);
	fprintf(stderr, "write_server: %lu blocks\n", inbox.blocks);
	return ret;
}

static int run(struct our_config *config, struct sockaddr *address)
{
	struct our_control *listener, *agent;
	int ret;

	ret = our_create_control_struct(config, OUR_LISTENER, &listener);
	if (!ret)
		ret = our_create_id(listener);
	if (!ret)
		ret = our_listener_bind(listener, address, 1);
	if (!ret) {
		fprintf(stderr, "write_server: listening\n");
		ret = our_get_request(listener, &agent);
	}
	if (!ret)
		ret = serve(config, agent);
	our_close(listener);
	return ret;
}

int main(int argc, char **argv)
{
	struct our_config config = {
		.waiting = { .cm = &our_cm_nonblocking, .completions = &our_nonblocking_channel },
		.report = report,
		.timeout_s = 10,
		.keepalive_s = 5,
	};
	struct addrinfo hints = { .ai_flags = AI_PASSIVE }, *address;
	int ret;

	if (argc < 2) {
		fprintf(stderr, "usage: write_server ADDRESS [PORT] >FILE\n");
		return 2;
	}
	if (fcntl(STDOUT_FILENO, F_GETFD) < 0) { /* otherwise writes would go to the next file */
		perror("write_server: stdout");
		return 1;
	}
	setvbuf(stdout, NULL, _IONBF, 0); /* an answer means that the data have left this program */
	ret = getaddrinfo(argv[1], argc > 2 ? argv[2] : "12321", &hints, &address);
	if (ret) {
		fprintf(stderr, "write_server: %s: %s\n", argv[1], gai_strerror(ret));
		return 2;
	}
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	ret = run(&config, address->ai_addr);
	freeaddrinfo(address);
	return ret ? 1 : 0;
}
