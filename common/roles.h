/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Functions that a new role (client, listener, agent) unlike those of ping-sr-0 needs beside
 * our_control.h. Such a role posts work requests of its own, handles events in a loop, connects
 * without the CM, or reports why a connection has ended. Unless its comment says "any thread", a
 * function is called by the thread that owns the control.
 */
#ifndef OUR_ROLES_H
#define OUR_ROLES_H

#include "common/waiting.h"

/* ---- Addresses and devices, in words ---- */

#define OUR_ADDRESS_TEXT 80 /* "[", an IPv6 address with scope, "]:65535", and a 0 */

/*
 * Writes "192.0.2.1:12321" or "[2001:db8::1]:12321" into text[OUR_ADDRESS_TEXT] and returns text.
 * Any thread.
 */
const char *our_address_text(const struct sockaddr *address, char *text);

/* Returns true for 0.0.0.0 and ::, which stand for all addresses of the machine. Any thread. */
bool our_is_any_address(const struct sockaddr *address);

/* Returns true for an address of this machine: an ordinary socket can be bound to it. */
bool our_is_local_address(const struct sockaddr *address);

/* Returns the device's name, "rxe0"; "any" for a listener that is bound to no device. */
const char *our_device_name(const struct our_control *control);

/* Returns "RoCE", "InfiniBand" or "iWARP"; "?" if the device reports something else. */
const char *our_transport_name(const struct our_control *control);

/* Returns the advice to report if the first CM call fails. */
#define OUR_NO_DEVICE_ADVICE "is there an RDMA device, and is the module rdma_ucm loaded?"

/* ---- Memory and work requests ---- */

/*
 * Returns the bytes of memory that `n` buffers of `size` bytes will take, including their work
 * requests and an estimate for their places in the queues of QP and CQ. Allocates nothing. Any
 * thread.
 */
uint64_t our_memory_of_buffers(uint32_t n, uint32_t size);

/* Returns the number of sends that our_setup_qp adds for the library's own keepalives. */
uint32_t our_extra_sends(const struct our_control *control);

/* Fills in the SGE for `length` bytes at `data` in the MR with key `lkey`. */
void our_setup_sge(struct ibv_sge *sge, void *data, uint32_t length, uint32_t lkey);

/*
 * Makes a send or WRITE carry its `length` bytes inline, in the work request, if they fit
 * control->max_inline. The buffer may then be changed at once. Cannot fail.
 */
void our_set_inline(const struct our_control *control, struct ibv_send_wr *wr, uint32_t length);

/* our_post for receives: posts the whole list, or none if there is no room for it. See ibv_post_recv(3). */
int our_post_recvs(struct our_control *control, struct ibv_recv_wr *wr);

/* ---- Completions ---- */

/*
 * Waits until our_now_ns is at least `until_ns`, or until there is a completion, in the stage's own
 * way of waiting. For --rate.
 *
 * Returns EAGAIN when the time has come; 0 and *completion; or an errno value as
 * our_await_completion does.
 */
int our_await_time(struct our_control *control, uint64_t until_ns,
		   struct our_completion *completion);

/*
 * Returns the number of completions that were taken from the CQ and not handed out yet. That many
 * calls of our_await_completion will not wait. To be called by the connection's own thread.
 */
int our_completions_at_hand(const struct our_control *control);

/*
 * Takes the next completion, without waiting, and without checking its status. Returns 0 and *wc,
 * valid until the next call; EAGAIN; or another errno value, reported.
 */
int our_take_next_wc(struct our_control *control, const struct ibv_wc **wc);

/* ---- Servers: connect requests ---- */

/* Agent: takes over the id of a connect request, with `agent` as its context. */
void our_adopt_id(struct our_control *agent, struct rdma_cm_id *cm_id);

/*
 * Reports why the client could not be accepted, or a listener cannot go on. Returns `error`; for a
 * client that has left, ECONNABORTED instead of EINVAL.
 */
int our_report_no_client(const struct our_control *agent, int error);
int our_report_no_requests(const struct our_control *listener, const char *call, int error);

/* ---- The connection, step by step: for loops, and for connections without the CM ---- */

/*
 * Notes that the connection is established, or was: sets control->accepted, and the first time
 * calls config->established of an agent.
 */
void our_note_established(struct our_control *control);

/*
 * Does as our_note_established, after RDMA_CM_EVENT_ESTABLISHED; also sets ->connected and the QP's
 * RNR timer. Returns 0 or an errno value, reported.
 */
int our_finish_connect(struct our_control *control);

/*
 * Puts the QP into its error state: posted work is flushed, and the device no longer uses our
 * memory. For a connection that may be established although we do not know it: rdma_disconnect
 * would do the same, but then wait for a peer that may not know us. Reports a failure. See
 * ibv_modify_qp(3).
 */
void our_flush_qp(struct our_control *control);

/*
 * Destroys the QP, if there is one: from then on nothing that was posted is under way, so MRs may be
 * deregistered. our_disconnect does this; a loop, which calls our_start_disconnect, has to call it.
 * See rdma_destroy_qp(3).
 */
void our_destroy_qp(struct our_control *control);

/* ---- How a connection ends ---- */

/*
 * Finds out what has ended a connection on which a work request was flushed. May wait a little for
 * the CM to report it. Returns ECONNRESET, ENODEV or EHOSTUNREACH; ECANCELED: the CM reports
 * nothing, and the flush has another cause; EINTR; or another errno value, reported.
 */
int our_cause_of_flush(struct our_control *control);

/*
 * Returns true if a send that the device could not make may mean that the client has left. True for
 * an agent on iWARP: TCP could not send, and often the CM reports the disconnect later. False for a
 * client. Any thread.
 */
static inline bool our_client_may_have_left(const struct our_control *control)
{
	return control->role == OUR_AGENT && our_is_iwarp(control);
}

#define OUR_FLUSH_LIMIT_S 5 /* for the CM to report a disconnect that has flushed something */

/*
 * Returns true if a flush may come before the CM reports the disconnect that caused it. On
 * InfiniBand and RoCE it cannot: there a disconnect flushes nothing until we disconnect, too, and
 * by then the CM has reported it. On iWARP the end of TCP flushes, and the event comes before or
 * after that.
 */
static inline bool our_flush_may_be_early(const struct our_control *control)
{
	return our_is_iwarp(control);
}

#endif
