/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A server with a buffer that is open, and its clients, one after the other. Contract: the first reads
 * and writes it; the others read elsewhere, get nothing, and lose their connections.
 */
#include <errno.h>
#include <string.h>

#include "parts.h"

#define SERVER_DEPTH 2 /* READs at a time */
#define CLIENT_DEPTH 4
#define RETRIES      3 /* retries in the clients' config */
#define RNR_RETRIES  5
#define SECRET       0x55

enum {
	OPENED,
	CLOSED,
	SENDS = 4
};

/* The message that the server sends each client: addresses in its memory, and keys. */
struct told {
	uint64_t opened, closed;
	uint32_t opened_rkey, closed_rkey;
};

enum attempt {
	ALLOWED,
	BEYOND_ITS_END,
	ANOTHER_BUFFER,
	THE_BUFFERS_KEY,
	ATTEMPTS
};

static bool is_iwarp(const struct our_control *control)
{
	return control->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
}

/* Each side repeats as often as the client's config says; and for want of a receive, as the peer's. */
static int check_counts(struct our_control *control, int rnr_retries)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int ret;

	if (is_iwarp(control)) /* iWARP has no such counts */
		return 0;
	ret = ibv_query_qp(control->qp, &attr, IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY, &init);
	if (!ret)
		ret = expect(attr.retry_cnt == RETRIES, "retry_count of the client");
	return ret ? ret : expect(attr.rnr_retry == rnr_retries, "rnr_retry_count of the peer");
}

/* ---- The server ---- */

static int open_buffer(struct our_control *agent, struct ibv_mr **mr)
{
	const struct our_buffer *buffers;
	struct told told;
	int ret;

	agent->read_depth = SERVER_DEPTH;
	ret = our_setup_qp(agent, SENDS, 1);
	if (!ret)
		ret = our_setup_buffers(agent, N_BUFFERS, SIZE, IBV_ACCESS_LOCAL_WRITE);
	if (!ret)
		ret = our_open_buffer(agent, OPENED,
				      IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ, mr);
	if (!ret)
		ret = our_post_recv(agent, CLOSED);
	if (ret)
		return ret;
	buffers = agent->memory.buffers;
	memset(buffers[CLOSED].data, SECRET, SIZE);
	told = (struct told){ (uintptr_t)(*mr)->addr, (uintptr_t)buffers[CLOSED].data, (*mr)->rkey,
			      agent->memory.mr->rkey };
	return our_agent_connect(agent, &told, sizeof(told));
}

/* The client that may write sends a message when it has, which is SECRET, too. */
static int watch(struct our_control *agent, enum attempt attempt)
{
	static const uint8_t written[SIZE] = { [0] = SECRET, [SIZE - 1] = SECRET };
	struct our_completion completion;
	int i, ret = check_counts(agent, RNR_RETRIES);

	if (!ret && attempt == ALLOWED)
		ret = our_await_completion(agent, &completion);
	if (!ret && attempt == ALLOWED)
		ret = expect(!memcmp(agent->memory.buffers[OPENED].data, written, SIZE),
			     "what a client wrote");
	if (!ret)
		ret = expect(our_await_completion(agent, &completion), "the connection has ended");
	for (i = 0; !ret && i < SIZE; i++)
		ret = expect(agent->memory.buffers[CLOSED].data[i] == SECRET, "a closed buffer");
	return ret;
}

void *run_opened_server(void *listener)
{
	struct our_control *agent;
	struct ibv_mr *mr;
	int i, ret = 0;

	for (i = 0; !ret && i < ATTEMPTS; i++) {
		mr = NULL;
		ret = our_get_request(listener, &agent);
		if (ret)
			break;
		ret = our_migrate_id(agent);
		if (!ret)
			ret = open_buffer(agent, &mr);
		if (!ret)
			ret = watch(agent, (enum attempt)i);
		our_disconnect(agent);
		if (mr)
			our_unsetup_mr(&config, mr);
		our_close(agent);
	}
	return (void *)(intptr_t)ret;
}

/* ---- Its clients ---- */

static int connect_reader(struct our_control *client, struct told *told)
{
	int access = IBV_ACCESS_LOCAL_WRITE | (is_iwarp(client) ? IBV_ACCESS_REMOTE_WRITE : 0);
	uint8_t depth;
	int ret;

	client->read_depth = CLIENT_DEPTH;
	ret = our_setup_qp(client, SENDS, 1);
	if (!ret)
		ret = our_setup_buffers(client, N_BUFFERS, SIZE, access);
	if (!ret)
		ret = our_client_connect(client, NULL, 0);
	if (ret)
		return ret;
	memcpy(told, client->cm_event.private_data, sizeof(*told));
	ret = our_read_depth(client, &depth);
	if (!ret)
		ret = expect(is_iwarp(client) ? depth <= CLIENT_DEPTH : depth == SERVER_DEPTH,
			     "the read depth that both sides agree on");
	return ret ? ret : check_counts(client, 7);
}

static int complete(struct our_control *client, enum ibv_wc_opcode opcode)
{
	struct our_completion completion;
	int ret = our_report_end(client, our_await_completion(client, &completion));

	return ret ? ret : expect(completion.opcode == opcode, "the opcode of a completion");
}

static int read_and_write(struct our_control *client, const struct told *told)
{
	const struct our_buffer *buffers = client->memory.buffers;
	int ret;

	buffers[SENT].data[0] = buffers[SENT].data[SIZE - 1] = SECRET;
	ret = our_post_write(client, SENT, SIZE, told->opened, told->opened_rkey);
	if (!ret)
		ret = complete(client, IBV_WC_RDMA_WRITE);
	if (!ret)
		ret = our_post_read(client, RECEIVED, SIZE, told->opened, told->opened_rkey);
	if (!ret)
		ret = complete(client, IBV_WC_RDMA_READ);
	if (!ret)
		ret = expect(!memcmp(buffers[RECEIVED].data, buffers[SENT].data, SIZE),
			     "a READ has what was written");
	if (!ret)
		ret = our_post_send(client, SENT, 1);
	return ret ? ret : complete(client, IBV_WC_SEND);
}

/* The client WRITEs with the key of all buffers: soft-iWARP serves a READ without the right to it. */
static int reach_elsewhere(struct our_control *client, const struct told *told,
			   enum attempt attempt)
{
	uint64_t where = attempt == BEYOND_ITS_END ? told->opened + SIZE - 1 : told->closed;
	static const uint8_t nothing[SIZE];
	struct our_completion completion;
	int ret;

	if (attempt == THE_BUFFERS_KEY)
		ret = our_post_write(client, SENT, SIZE, where, told->closed_rkey);
	else
		ret = our_post_read(client, RECEIVED, SIZE, where, told->opened_rkey);
	if (ret)
		return ret;
	ret = our_await_completion(client, &completion);
	if (!ret && completion.opcode == IBV_WC_RDMA_WRITE) /* the WRITE has been sent */
		ret = our_await_completion(client, &completion);
	ret = expect(ret && ret != ETIMEDOUT, "access elsewhere ends the connection");
	return ret ? ret
		   : expect(!memcmp(client->memory.buffers[RECEIVED].data, nothing, SIZE),
			    "a READ that fails brings nothing");
}

static int try(struct sockaddr *server, const struct our_config *its, enum attempt attempt)
{
	struct our_control *client;
	struct told told;
	int ret = bind_client(its, NULL, server, &client);

	if (!ret)
		ret = connect_reader(client, &told);
	if (!ret && attempt == ALLOWED)
		ret = read_and_write(client, &told);
	else if (!ret)
		ret = reach_elsewhere(client, &told, attempt);
	our_close(client);
	return ret;
}

/* A device that cannot make an event for several completions says so. */
static int try_moderation(struct sockaddr *server)
{
	struct our_config its = config;
	struct our_control *client;
	int ret;

	its.event_completions = 4;
	its.event_us = 100;
	its.report = NULL;
	ret = bind_client(&its, NULL, server, &client);
	if (!ret)
		ret = our_setup_qp(client, 1, 1);
	our_close(client);
	return ret == EOPNOTSUPP ? 0 : ret;
}

void *run_opened_clients(void *address)
{
	struct our_config its = config;
	int attempt, ret = try_moderation(address);

	its.retry_count = RETRIES;
	its.rnr_retry_count = RNR_RETRIES;
	for (attempt = 0; !ret && attempt < ATTEMPTS; attempt++) {
		its.report = attempt == ALLOWED ? config.report : NULL;
		ret = try(address, &its, (enum attempt)attempt);
	}
	return (void *)(intptr_t)ret;
}
