/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, how calls fail. Contract: a row for each way in which a call can fail, and
 * what the program must then do. A call without a row fails with EIO; its name tells whether it
 * belongs to the tear-down, and whether the program can continue without it.
 */
#include <errno.h>
#include <string.h>

#include "tests/fake/state.h"

struct row {
	const char *call;
	struct fake_fault fault;
};

/* The call fails at once. FAKE_FAILS is what is expected unless something else is named. */
#define FAILS(error_)    .fault = { .name = #error_, .error = (error_) }
#define RECOVERS(error_) .fault = { .name = #error_, .error = (error_), .expected = FAKE_RECOVERS }
#define TEAR_DOWN(error_) \
	.fault = { .name = #error_, .error = (error_), .expected = FAKE_TEAR_DOWN }
/* Those before it are posted. */
#define FAILS_AT_LAST(error_) \
	.fault = { .name = #error_ " at the last", .error = (error_), .at_last = true }
/* The event that comes instead of the expected one. */
#define EVENT(type, status_)                      \
	.fault = { .name = #type " " #status_,    \
		   .has_event = true,             \
		   .event = RDMA_CM_EVENT_##type, \
		   .status = (status_) }
/* It fails later. What the peer does is the fault of its host, of its program, or of what it posts. */
#define LATER(name_, ...)       .fault = { .name = (name_), .expected = FAKE_FAILS_LATER, __VA_ARGS__ }
#define PEERS_DOING(name_, ...) LATER(name_, .peers_doing = true, __VA_ARGS__)
#define WC(status_)             LATER(#status_, .wc_status = IBV_WC_##status_)
#define PEERS_WC(status_)       PEERS_DOING(#status_, .wc_status = IBV_WC_##status_)
#define PEERS_EVENT(type, status_) \
	PEERS_DOING(#type, .has_event = true, .event = RDMA_CM_EVENT_##type, .status = (status_))
#define PEER_LEAVES   PEERS_DOING("peer leaves", .peer_leaves = true)
#define LEAVES_AFTER  PEERS_DOING("peer leaves after it", .leaves_after = true)
#define CUT_SHORT     PEERS_DOING("cut short", .cut = true)
#define DEVICE_LEAVES LATER("device leaves", .device_leaves = true)

static const struct row rows[] = {
	{ "rdma_create_event_channel", FAILS(ENODEV) },
	{ "rdma_create_event_channel", FAILS(EMFILE) },
	{ "rdma_create_id", FAILS(ENODEV) },
	{ "rdma_resolve_addr", FAILS(ENODEV) },
	{ "rdma_resolve_addr", EVENT(ADDR_ERROR, -ENODEV) },
	{ "rdma_resolve_addr", EVENT(ADDR_ERROR, -ETIMEDOUT) },
	{ "rdma_resolve_addr", EVENT(DEVICE_REMOVAL, 0) },
	{ "rdma_resolve_route", FAILS(ENETUNREACH) },
	{ "rdma_resolve_route", EVENT(ROUTE_ERROR, -EHOSTUNREACH) },
	{ "rdma_resolve_route", EVENT(ROUTE_ERROR, -ETIMEDOUT) },
	{ "rdma_resolve_route", EVENT(DEVICE_REMOVAL, 0) },
	/* The kernel says so, too, if another program has the port: the stages know better. */
	{ "rdma_bind_addr",
	  { .name = "EADDRNOTAVAIL", .error = EADDRNOTAVAIL, .says = EADDRINUSE } },
	{ "rdma_listen", FAILS(EADDRINUSE) },
	{ "rdma_listen", FAILS(ENOMEM) },
	{ "rdma_listen", DEVICE_LEAVES },
	{ "rdma_migrate_id", FAILS(ENOMEM) },
	{ "rdma_connect", FAILS(ENOMEM) },
	{ "rdma_connect", FAILS(ECONNREFUSED) },
	{ "rdma_connect", FAILS(EADDRINUSE) },
	{ "rdma_connect", EVENT(REJECTED, 8) },
	{ "rdma_connect", EVENT(REJECTED, 28) },
	{ "rdma_connect", EVENT(REJECTED, -ECONNRESET) },
	{ "rdma_connect", EVENT(UNREACHABLE, -ETIMEDOUT) },
	{ "rdma_connect", EVENT(CONNECT_ERROR, -EPROTO) },
	{ "rdma_connect", EVENT(DEVICE_REMOVAL, 0) },
	{ "rdma_connect", PEER_LEAVES },
	{ "rdma_connect", DEVICE_LEAVES },
	{ "rdma_accept", FAILS(ENOMEM) },
	/* The client could not be accepted, because it has left. */
	{ "rdma_accept", PEERS_EVENT(CONNECT_ERROR, -ECONNRESET) },
	{ "rdma_accept", PEERS_EVENT(UNREACHABLE, -ETIMEDOUT) },
	{ "rdma_accept", PEERS_EVENT(REJECTED, 28) },
	{ "rdma_accept",
	  LATER("DEVICE_REMOVAL", .has_event = true, .event = RDMA_CM_EVENT_DEVICE_REMOVAL) },
	{ "rdma_accept", PEER_LEAVES },
	{ "rdma_accept", DEVICE_LEAVES },
	{ "rdma_get_cm_event", FAILS(ENODATA) },
	{ "rdma_get_cm_event", RECOVERS(EINTR) },
	{ "rdma_get_request", FAILS(ENODATA) },
	{ "rdma_get_request", RECOVERS(EINTR) },
	/*
	 * An error EINVAL is normal here, and nothing depends on the call: the QP is in error
	 * anyway, and the peer learns of the end when the id is destroyed.
	 */
	{ "rdma_disconnect", RECOVERS(EINVAL) },
	{ "rdma_disconnect", RECOVERS(ENOMEM) },
	{ "ibv_alloc_pd", FAILS(ENOMEM) },
	{ "ibv_reg_mr", FAILS(ENOMEM) },
	{ "ibv_create_comp_channel", FAILS(EMFILE) },
	{ "ibv_create_cq", FAILS(ENOMEM) },
	{ "rdma_create_qp", FAILS(ENOMEM) },
	/* Too much inline data: the program asks for less. */
	{ "rdma_create_qp", RECOVERS(EINVAL) },
	/* The results need the name of the transport; "?" is accepted, too. */
	{ "ibv_query_port", RECOVERS(EIO) },
	{ "ibv_modify_qp", FAILS(EINVAL) },
	{ "ibv_req_notify_cq", FAILS(EIO) },
	{ "ibv_get_cq_event", FAILS(EIO) },
	{ "ibv_poll_cq", FAILS(EIO) },
	{ "ibv_post_recv", FAILS(ENOMEM) },
	{ "ibv_post_recv", FAILS_AT_LAST(ENOMEM) },
	{ "ibv_post_recv", PEERS_WC(LOC_LEN_ERR) },
	{ "ibv_post_recv", PEERS_WC(LOC_QP_OP_ERR) },
	{ "ibv_post_recv", WC(WR_FLUSH_ERR) },
	{ "ibv_post_recv", PEER_LEAVES },
	{ "ibv_post_recv", LEAVES_AFTER },
	{ "ibv_post_recv", DEVICE_LEAVES },
	{ "ibv_post_recv", PEERS_DOING("peer has left", .peer_has_left = true) },
	{ "ibv_post_recv", CUT_SHORT },
	{ "ibv_create_srq", FAILS(ENOMEM) },
	{ "ibv_create_srq", FAILS(EINVAL) },
	{ "ibv_modify_srq", FAILS(EINVAL) },
	{ "ibv_post_srq_recv", FAILS(ENOMEM) },
	{ "ibv_post_srq_recv", FAILS_AT_LAST(ENOMEM) },
	{ "ibv_post_srq_recv", PEERS_WC(LOC_LEN_ERR) },
	{ "ibv_post_srq_recv", PEERS_WC(LOC_QP_OP_ERR) },
	{ "ibv_post_srq_recv", WC(WR_FLUSH_ERR) },
	{ "ibv_post_srq_recv", PEER_LEAVES },
	{ "ibv_post_srq_recv", LEAVES_AFTER },
	{ "ibv_post_srq_recv", DEVICE_LEAVES },
	{ "ibv_post_srq_recv", CUT_SHORT },
	{ "ibv_post_send", FAILS(ENOMEM) },
	{ "ibv_post_send", FAILS_AT_LAST(ENOMEM) },
	{ "ibv_post_send", PEERS_WC(RETRY_EXC_ERR) },
	{ "ibv_post_send", PEERS_WC(REM_OP_ERR) },
	{ "ibv_post_send", PEERS_WC(RNR_RETRY_EXC_ERR) },
	{ "ibv_post_send", WC(LOC_PROT_ERR) },
	{ "ibv_post_send", WC(WR_FLUSH_ERR) },
	{ "ibv_post_send", PEER_LEAVES },
	{ "ibv_post_send", DEVICE_LEAVES },
	{ "ibv_create_qp", FAILS(ENOMEM) },
	{ "ibv_create_qp", RECOVERS(EINVAL) },
	{ "ibv_open_device", FAILS(ENODEV) },
	{ "ibv_close_device", TEAR_DOWN(EIO) },
	{ "socket", FAILS(EMFILE) },
	{ "connect", FAILS(ENETUNREACH) },
	{ "connect", FAILS(ECONNREFUSED) },
	{ "bind", FAILS(EADDRNOTAVAIL) },
	{ "listen", FAILS(EADDRINUSE) },
	{ "accept", FAILS(EMFILE) },
	{ "accept", RECOVERS(ECONNABORTED) },
	/* The peer has closed the connection in a way that is not orderly. */
	{ "recv",
	  { .name = "ECONNRESET",
	    .error = ECONNRESET,
	    .peers_doing = true,
	    .expected = FAKE_RECOVERS } },
	/*
	 * These calls also fail for a client that has left: the program tries to read its line
	 * nevertheless.
	 */
	{ "getpeername", RECOVERS(ENOTCONN) },
	/* Other events also tell that the connection has ended. */
	{ "shutdown", RECOVERS(ENOTCONN) },
	{ "calloc", FAILS(ENOMEM) },
	{ "malloc", FAILS(ENOMEM) },
	{ "posix_memalign", FAILS(ENOMEM) },
	{ "pthread_create", FAILS(EAGAIN) },
	{ "eventfd", FAILS(EMFILE) },
	{ "fcntl", FAILS(EBADF) },
	{ "sigaction", FAILS(EINVAL) },
	/* Some programs treat it as a signal that asks for nothing, and continue. */
	{ "ppoll", RECOVERS(ENOMEM) },
};

static bool tears_down(const char *call)
{
	return strstr(call, "destroy") || strstr(call, "dealloc") || strstr(call, "dereg") ||
	       strstr(call, "reject");
}

bool fake_choose_fault(const char *call, unsigned int choice, struct fake_fault *fault)
{
	static const struct row unknown = { "", FAILS(EIO) }, tear_down = { "", TEAR_DOWN(EIO) };
	bool known = false;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(rows[i].call, call))
			continue;
		known = true;
		*fault = rows[i].fault;
		if (!choice--)
			return true;
	}
	*fault = tears_down(call) ? tear_down.fault : unknown.fault;
	return !known && !choice;
}

unsigned int fake_count_faults(const char *call)
{
	struct fake_fault fault;
	unsigned int n = 0;

	while (fake_choose_fault(call, n, &fault))
		n++;
	return n;
}
