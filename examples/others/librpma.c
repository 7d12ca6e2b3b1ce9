/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The echo on librpma, asleep in poll(2) on the descriptors of its completions and of its
 * connection: librpma(7). rpma_cq_wait alone would not hear that the peer has left.
 */
#include <poll.h>

#include <librpma.h>

#include "echo.h"

struct end {
	struct rpma_peer *peer;
	struct rpma_mr_local *mr; /* the buffers' */
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	int fds[2]; /* readable after a completion; an event of the connection */
};

static void ok(int ret, const char *call)
{
	must(!ret, call, rpma_err_2str(ret));
}

static void open_end(struct end *end, const char *address, enum rpma_util_ibv_context_type type)
{
	struct ibv_context *context;

	ok(rpma_utils_get_ibv_context(address, type, &context), "rpma_utils_get_ibv_context");
	ok(rpma_peer_new(context, &end->peer), "rpma_peer_new");
	ok(rpma_mr_reg(end->peer, buffers, sizeof(buffers), RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV,
		       &end->mr),
	   "rpma_mr_reg");
}

/* Connects, with a receive into the buffer posted before the peer can send. */
static void connect_end(struct end *end, struct rpma_conn_req *req, size_t buffer)
{
	enum rpma_conn_event event;

	ok(rpma_conn_req_recv(req, end->mr, buffer * MAX_SIZE, MAX_SIZE, end),
	   "rpma_conn_req_recv");
	ok(rpma_conn_req_connect(&req, NULL, &end->conn), "rpma_conn_req_connect");
	ok(rpma_conn_next_event(end->conn, &event), "rpma_conn_next_event");
	must(event == RPMA_CONN_ESTABLISHED, "connect", rpma_utils_conn_event_2str(event));
	ok(rpma_conn_get_cq(end->conn, &end->cq), "rpma_conn_get_cq");
	ok(rpma_cq_get_fd(end->cq, &end->fds[0]), "rpma_cq_get_fd");
	ok(rpma_conn_get_event_fd(end->conn, &end->fds[1]), "rpma_conn_get_event_fd");
}

static void recv_into(struct end *end, size_t buffer)
{
	ok(rpma_recv(end->conn, end->mr, buffer * MAX_SIZE, MAX_SIZE, end), "rpma_recv");
}

static void send_from(struct end *end, size_t buffer, size_t size)
{
	ok(rpma_send(end->conn, end->mr, buffer * MAX_SIZE, size, RPMA_F_COMPLETION_ALWAYS, NULL),
	   "rpma_send");
}

/* Sleeps until there is a completion. Returns false if the peer has left. */
static bool await_completion(struct end *end, struct ibv_wc *wc)
{
	struct pollfd fds[] = { { end->fds[0], POLLIN, 0 }, { end->fds[1], POLLIN, 0 } };
	int ret;

	while ((ret = rpma_cq_get_wc(end->cq, 1, wc, NULL)) == RPMA_E_NO_COMPLETION) {
		poll(fds, 2, -1);
		if (fds[1].revents)
			return false;
		ok(rpma_cq_wait(end->cq), "rpma_cq_wait"); /* takes the event, and arms the CQ */
	}
	ok(ret, "rpma_cq_get_wc");
	return wc->status == IBV_WC_SUCCESS;
}

static void close_end(struct end *end)
{
	enum rpma_conn_event event;

	ok(rpma_conn_disconnect(end->conn), "rpma_conn_disconnect");
	ok(rpma_conn_next_event(end->conn, &event), "rpma_conn_next_event");
	ok(rpma_conn_delete(&end->conn), "rpma_conn_delete");
	ok(rpma_mr_dereg(&end->mr), "rpma_mr_dereg");
	ok(rpma_peer_delete(&end->peer), "rpma_peer_delete");
}

void server(const char *address, const char *port)
{
	struct rpma_conn_req *req;
	struct rpma_ep *ep;
	struct end end;
	struct ibv_wc wc;
	size_t buffer = 0;

	open_end(&end, address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	ok(rpma_ep_listen(end.peer, address, port, &ep), "rpma_ep_listen");
	say_listening();
	ok(rpma_ep_next_conn_req(ep, NULL, &req), "rpma_ep_next_conn_req");
	connect_end(&end, req, buffer);
	while (await_completion(&end, &wc)) {
		if (wc.opcode != IBV_WC_RECV)
			continue;
		recv_into(&end, !buffer); /* before the client can send again */
		send_from(&end, buffer, wc.byte_len);
		buffer = !buffer;
	}
	close_end(&end);
	ok(rpma_ep_shutdown(&ep), "rpma_ep_shutdown");
}

/* One message there and back: the two completions come in either order. */
static bool ping(struct end *end)
{
	struct ibv_wc wc;

	send_from(end, 0, message_size);
	return await_completion(end, &wc) && await_completion(end, &wc);
}

void client(const char *address, const char *port)
{
	struct rpma_conn_req *req;
	struct end end;

	open_end(&end, address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	ok(rpma_conn_req_new(end.peer, address, port, NULL, &req), "rpma_conn_req_new");
	connect_end(&end, req, 1);
	while (next_message() && ping(&end)) {
		check_answer();
		recv_into(&end, 1);
	}
	close_end(&end);
}
