/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rc-0: a connection made without a connection manager: a TCP socket, and what the two ends
 * send each other over it. Shared by the files of this stage.
 */
#ifndef OUR_BARE_H
#define OUR_BARE_H

#include "common/stage.h"

/* What one end has to know about the other's QP. */
struct our_bare_end {
	uint16_t lid;      /* its port's address on InfiniBand; 0 on RoCE */
	uint32_t qp_num;   /* 24 bits */
	uint32_t psn;      /* 24 bits: the number of the first packet that it will send */
	union ibv_gid gid; /* its port's address on RoCE, and beyond a subnet of InfiniBand */
};

/* What the TCP socket shows about the peer. */
enum our_watch {
	OUR_WATCHED,   /* it is open: the peer's process is there */
	OUR_SHUT,      /* the peer has closed it: has it left, or only no more use for it? */
	OUR_UNWATCHED, /* the peer has closed it, and goes on: it shows nothing more */
};

/* In control->cm_state. The connection's own thread. */
struct our_bare {
	int socket;        /* of the connection, or the listener's; -1: none */
	int second_socket; /* of a listener on any address; -1: none */
	enum our_watch watch;
	uint64_t look_ns;  /* when to check next whether the peer has closed it */
	uint64_t leave_ns; /* when a silent peer that has closed it counts as gone */

	bool is_ethernet;  /* the port's link: RoCE, not InfiniBand */
	uint8_t gid_index; /* of ours, in the port's table */
	enum ibv_mtu mtu;
	struct our_bare_end local, remote;
};

static inline struct our_bare *our_bare_of(const struct our_control *control)
{
	return control->cm_state;
}

/* The agent: see struct our_stage. agent.c. */
int our_bare_agent(struct our_control *agent);

/* ---- device_choice.c: which device, which port of it, which GID ---- */

/*
 * Opens the device that serves control->local_address, or that the options name, and chooses port,
 * GID and MTU: sets control->verbs, port_num, and the fields of our_bare_of(control) for them.
 *
 * Returns 0 or an errno value, reported. our_close_device undoes it.
 */
int our_choose_device(struct our_control *control);
void our_close_device(struct our_control *control);

/* The options for these. */
extern const struct our_option our_bare_options[];

/* ---- queue_pair.c: the QP's states, by hand ---- */

/*
 * Takes control->qp from INIT to RTR (it receives from the QP `remote`) and RTS (it also sends to
 * it). Returns 0 or an errno value, reported. See ibv_modify_qp(3).
 */
int our_connect_qp(struct our_control *control);

/* ---- exchange.c: the lines of text over TCP ---- */

/*
 * Send and receive what one end has to know about the other: a line in the form of ibv_rc_pingpong;
 * and the word with which the client confirms it. They wait until our_now_ns is `until_ns`.
 *
 * Return 0; EINTR: asked to stop; ETIMEDOUT; ECONNRESET: the peer has closed the connection;
 * EPROTO: not such a line; or another errno value. None is reported.
 */
int our_send_end(struct our_control *control, const struct our_bare_end *end);
int our_receive_end(struct our_control *control, struct our_bare_end *end, uint64_t until_ns);
int our_send_done(struct our_control *control);
int our_receive_done(struct our_control *control, uint64_t until_ns);

/* Reports that `call`, a part of the exchange, has failed with `error`. Returns it. */
int our_report_exchange(const struct our_control *control, const char *call, int error);

/*
 * Waits until poll(2) finds `events` at the socket. Returns 0, EINTR (asked to stop), ETIMEDOUT, or
 * another errno value. None is reported.
 */
int our_await_socket(int socket, short events, uint64_t until_ns);

/* ---- mistakes.c: --mistake ---- */

/* Changes what the QP will be told about its peer, if the user asked for a mistake. */
void our_make_mistake(struct ibv_qp_attr *attr);

/* Which: a number from 1 in the list of the option --mistake; 0: none. */
extern uint64_t our_mistake;

#endif
