/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, how calls fail. Contract: a row for each way in which a call can fail, and
 * what the program must then do. A call without a row fails with EIO; its name tells whether it
 * belongs to the tear-down, and whether the program can continue without it.
 */
#include <errno.h>
#include <string.h>

#include "tests/fake/faults.h"

struct row {
	const char *call;
	struct fake_fault fault;
};

/* The event that comes instead of the expected one. */
#define EVENT(type, status_)                                                                  \
	{                                                                                     \
		.name = #type " " #status_, .has_event = true, .event = RDMA_CM_EVENT_##type, \
		.status = (status_), .expected = FAKE_FAILS                                   \
	}
#define FAILS(error_)                                                       \
	{                                                                   \
		.name = #error_, .error = (error_), .expected = FAKE_FAILS, \
	}
/* Those before it are posted. */
#define FAILS_AT_LAST(error_)                                                       \
	{                                                                           \
		.name = #error_ " at the last", .error = (error_), .at_last = true, \
		.expected = FAKE_FAILS,                                             \
	}
#define RECOVERS(error_)                                                       \
	{                                                                      \
		.name = #error_, .error = (error_), .expected = FAKE_RECOVERS, \
	}
#define TEAR_DOWN(error_)                                                       \
	{                                                                       \
		.name = #error_, .error = (error_), .expected = FAKE_TEAR_DOWN, \
	}
#define WC(status_)                                                                            \
	{                                                                                      \
		.name = #status_, .wc_status = IBV_WC_##status_, .expected = FAKE_FAILS_LATER, \
	}
/* The fault is that of the peer's host, of its program, or of what it sends or posts. */
#define PEERS_WC(status_)                                                             \
	{                                                                             \
		.name = #status_, .wc_status = IBV_WC_##status_, .peers_doing = true, \
		.expected = FAKE_FAILS_LATER,                                         \
	}
#define PEER_LEAVES                                                              \
	{                                                                        \
		.name = "peer leaves", .peer_leaves = true, .peers_doing = true, \
		.expected = FAKE_FAILS_LATER,                                    \
	}
#define LEAVES_AFTER                                                                       \
	{                                                                                  \
		.name = "peer leaves after it", .leaves_after = true, .peers_doing = true, \
		.expected = FAKE_FAILS_LATER,                                              \
	}
#define DEVICE_LEAVES                                                                         \
	{                                                                                     \
		.name = "device leaves", .device_leaves = true, .expected = FAKE_FAILS_LATER, \
	}

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
	{ "rdma_resolve_route", EVENT(DEVICE_REMOVAL, 0) },
	/* The kernel says so, too, if another program has the port: the stages know better. */
	{ "rdma_bind_addr",
	  { .name = "EADDRNOTAVAIL",
	    .error = EADDRNOTAVAIL,
	    .says = EADDRINUSE,
	    .expected = FAKE_FAILS } },
	{ "rdma_listen", FAILS(EADDRINUSE) },
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
	{ "rdma_accept",
	  { .name = "CONNECT_ERROR",
	    .has_event = true,
	    .status = -ECONNRESET,
	    .event = RDMA_CM_EVENT_CONNECT_ERROR,
	    .peers_doing = true,
	    .expected = FAKE_FAILS_LATER } },
	{ "rdma_accept",
	  { .name = "UNREACHABLE",
	    .has_event = true,
	    .status = -ETIMEDOUT,
	    .event = RDMA_CM_EVENT_UNREACHABLE,
	    .peers_doing = true,
	    .expected = FAKE_FAILS_LATER } },
	{ "rdma_accept",
	  { .name = "REJECTED",
	    .has_event = true,
	    .status = 28,
	    .event = RDMA_CM_EVENT_REJECTED,
	    .peers_doing = true,
	    .expected = FAKE_FAILS_LATER } },
	{ "rdma_accept",
	  { .name = "DEVICE_REMOVAL",
	    .has_event = true,
	    .event = RDMA_CM_EVENT_DEVICE_REMOVAL,
	    .expected = FAKE_FAILS_LATER } },
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
	{ "rdma_disconnect", { .name = "EINVAL", .error = EINVAL, .expected = FAKE_RECOVERS } },
	{ "rdma_disconnect", { .name = "ENOMEM", .error = ENOMEM, .expected = FAKE_RECOVERS } },
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
	{ "ibv_post_recv",
	  { .name = "peer has left",
	    .peer_has_left = true,
	    .peers_doing = true,
	    .expected = FAKE_FAILS_LATER } },
	{ "ibv_post_recv",
	  { .name = "cut short", .cut = true, .peers_doing = true, .expected = FAKE_FAILS_LATER } },
	{ "ibv_create_srq", FAILS(ENOMEM) },
	{ "ibv_modify_srq", FAILS(EINVAL) },
	{ "ibv_post_srq_recv", FAILS(ENOMEM) },
	{ "ibv_post_srq_recv", FAILS_AT_LAST(ENOMEM) },
	{ "ibv_post_srq_recv", PEERS_WC(LOC_LEN_ERR) },
	{ "ibv_post_srq_recv", PEERS_WC(LOC_QP_OP_ERR) },
	{ "ibv_post_srq_recv", WC(WR_FLUSH_ERR) },
	{ "ibv_post_srq_recv", PEER_LEAVES },
	{ "ibv_post_srq_recv", LEAVES_AFTER },
	{ "ibv_post_srq_recv", DEVICE_LEAVES },
	{ "ibv_post_srq_recv",
	  { .name = "cut short", .cut = true, .peers_doing = true, .expected = FAKE_FAILS_LATER } },
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
	const struct fake_fault unknown = FAILS(EIO), tear_down = TEAR_DOWN(EIO);
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
	*fault = tears_down(call) ? tear_down : unknown;
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
