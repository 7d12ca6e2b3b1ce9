/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rc-0: a connection made without a connection manager: a TCP socket, and what the two ends
 * send each other over it. Shared by the files of this stage.
 */
#ifndef OUR_BARE_H
#define OUR_BARE_H

#include <netinet/in.h>

#include "common/waiting.h"
#include "program/options.h"
#include "program/stage.h"

/* The facts about a QP that the other end has to know. */
struct our_bare_end {
	uint16_t lid;      /* its port's address on InfiniBand; 0 on RoCE */
	uint32_t qp_num;   /* 24 bits */
	uint32_t psn;      /* 24 bits: the number of the first packet that it will send */
	union ibv_gid gid; /* its port's address on RoCE, and beyond a subnet of InfiniBand */
};

/* The state of the peer, as the TCP socket shows it. */
enum our_watch {
	OUR_WATCHED,   /* the socket is open: the peer's process is there */
	OUR_SHUT,      /* closed by the peer, which may have left, or have no more use for it */
	OUR_UNWATCHED, /* closed by the peer, which goes on: it shows nothing more */
};

/* our_private(control)->cm_state. Only the connection's own thread uses it. */
struct our_bare {
	int socket;        /* the connection's, or the listener's; -1: none */
	int second_socket; /* a listener's second one, on any address; -1: none */
	enum our_watch watch;
	uint64_t leave_ns;    /* when a silent peer that has closed its socket counts as gone */
	uint64_t completions; /* completions so far when the peer closed its socket */

	bool is_ethernet;  /* the port's link: RoCE, not InfiniBand */
	uint8_t gid_index; /* our GID's place in the port's table */
	enum ibv_mtu mtu;
	struct our_bare_end local, remote;
};

static inline struct our_bare *our_bare_of(const struct our_control *control)
{
	return our_private(control)->cm_state;
}

static inline socklen_t our_address_length(const struct sockaddr *address)
{
	return address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					      : sizeof(struct sockaddr_in);
}

/* The roles: see struct our_stage. client.c, agent.c, server.c. */
int our_bare_client(struct our_control *client, struct sockaddr *server);
int our_bare_agent(struct our_control *agent);
int our_bare_listener(struct our_control *listener);

/* ---- connection.c: from a TCP socket to a connection and back ---- */

/*
 * Allocates our_bare_of(control), without a socket and a device. Returns 0 or ENOMEM, reported.
 * our_bare_close undoes it, and closes socket and device, which also refuses a client. The QP must
 * be destroyed.
 */
int our_bare_open(struct our_control *control);
void our_bare_close(struct our_control *control);

/*
 * Client: finds our own address towards the server, and with it the device. Returns 0 or an errno value,
 * reported.
 */
int our_bare_bind(struct our_control *client, const struct sockaddr *server);

/*
 * Client: connects a TCP socket to the server, exchanges lines with it, and takes the QP to RTS. The first
 * receive must be posted already. Returns as our_client_connect does.
 */
int our_bare_connect(struct our_control *client);

/*
 * Agent: reads the client's line from our_bare_of(agent)->socket, and finds the device for it; sets
 * nothing up. Returns 0 or an errno value, reported.
 */
int our_bare_take_request(struct our_control *agent);

/*
 * Agent: takes the QP to RTS, and then sends our line: now the client can send. The first receive must be
 * posted already. Counts the client as accepted. Returns 0 or an errno value, reported.
 */
int our_bare_accept(struct our_control *agent);

/*
 * Ends the connection, whether it was made or not: flushes what is posted, destroys the QP, which must
 * exist, and shuts the socket down.
 */
void our_bare_disconnect(struct our_control *control);

/* Reports that the peer has closed its TCP connection and goes on, unless -q. */
void our_report_unwatched(const struct our_control *control);

/* Reports that `call`, on a socket for `address`, has failed with `error`. Returns it. */
int our_report_socket(const char *call, int error, const struct sockaddr *address);

/* ---- device_choice.c: which device, which port of it, which GID ---- */

/*
 * Opens the device that serves control->local_address, or that the options name, and chooses port,
 * GID and MTU: sets control->verbs, port_num, and the fields of our_bare_of(control) for them.
 *
 * Returns 0 or an errno value, reported. our_close_chosen_device undoes it.
 */
int our_choose_device(struct our_control *control);
void our_close_chosen_device(struct our_control *control);

extern const struct our_option our_bare_options[]; /* --device, --device-port, --gid-index, --mtu */

/* ---- queue_pair.c: the QP's states, by hand ---- */

extern const struct our_option our_mistake_options[]; /* --mistake */

/*
 * Takes control->qp from INIT to RTR (it receives from the QP `remote`) and RTS (it also sends to
 * it). Returns 0 or an errno value, reported. See ibv_modify_qp(3).
 */
int our_connect_qp(struct our_control *control);

/* See struct our_cm_ops. */
int our_bare_make_qp(struct our_control *control, struct ibv_qp_init_attr *attr, const char **call);
void our_bare_destroy_qp(struct our_control *control);

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

#endif
