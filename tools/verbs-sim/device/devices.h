/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The devices of the simulated machine: how each behaves (traits.c), and what it has: addresses,
 * ports and GIDs (devices.c).
 *
 * Contract: the runner makes them before the first program runs; then they stay as they are.
 */
#ifndef VERBS_SIM_DEVICE_DEVICES_H
#define VERBS_SIM_DEVICE_DEVICES_H
#include <infiniband/verbs.h>
#include <netinet/in.h>

#include "verbs-sim/device/kinds.h"

#define SIM_MOST_DEVICES   8
#define SIM_MOST_PORTS     2
#define SIM_MOST_GIDS      16 /* of a device */
#define SIM_MOST_ADDRESSES 8

/* The traits in which devices differ: see docs/drivers.md, and traits.c. */
struct sim_traits {
	bool iwarp;
	int most[SIM_KINDS]; /* objects of a kind, of all programs together; 0: any number */
	struct ibv_device_attr attr; /* its other attributes, */
	struct ibv_port_attr port;   /* and of each port */
	uint32_t max_inline;         /* bytes that a QP may be granted */
	/* The granting of what programs ask for. */
	uint32_t inline_piece; /* bytes of inline data in the place of an SGE; 0: as asked */
	bool rounds_wr, rounds_cq, rounds_srq; /* up to a power of two, of an SRQ less one */
	bool exact; /* a queue takes as many as were granted, though its ring has more slots */
	bool frees_polled; /* a place in a queue is free when a completion of it has been polled */
	/* The connection manager. */
	uint8_t padded_request, padded_reply, padded_reject; /* bytes of private data, at least */
	int nobody_listens, rejected,
		backlog_full; /* statuses of RDMA_CM_EVENT_REJECTED; 0: dropped */
	/* Until rdma_connect fails (nobody is there; nobody accepts), and rdma_disconnect. */
	uint64_t request_lost_ns, not_answered_ns, disconnect_lost_ns;
	uint64_t resend_ns, timewait_ns; /* RoCE: see docs/drivers.md, "At a glance" */
	uint64_t tcp_lost_ns;            /* iWARP: until TCP gives up */
	bool retries_forever;            /* retry_cnt 7 is forever; otherwise seven times */
	bool coarse_timeouts;            /* a timeout is rounded up as Linux's timers are */
	uint8_t ack_timeout;             /* RoCE: a code of struct ibv_qp_attr */
	/* Completions. */
	enum ibv_wc_status beyond_region; /* of this side's memory, with a key that is right */
	enum ibv_wc_status bad_local_key, bad_sink, bad_opcode, bad_bind; /* sink: of a READ */
	enum ibv_wc_status bad_recv_key, bad_recv_there; /* at its side, and at the sender's */
	enum ibv_wc_status too_long_here, too_long_there;
	bool drops_too_long; /* a datagram that its receive has no room for is lost: the QP lives */
	uint32_t loses;      /* one of this many datagrams on its way; 0: none */
	uint32_t repeats;    /* one of this many arrives twice; 0: none */
	bool solicited;      /* a CQ armed for solicited messages is told of them */
	bool flushes_torn;   /* the receive of a message that breaks off is flushed, not lost */
	bool flushes_late;   /* so is a receive that is posted in the error state */
	bool last_wqe;       /* a QP with an SRQ says that it takes no more receives */
	bool atomic_write;   /* RC has IBV_WR_ATOMIC_WRITE */
	/* A request has left before ibv_post_send returns, and on UD and UC has completed. */
	bool sends_at_once;
	bool tells_responder; /* of a request that it has refused, by an asynchronous event */
	bool overlaps_reads; /* what is behind a READ or an atomic operation does not wait for it */
	bool limits_answers; /* a QP cannot answer more READs at a time than the device says */
	bool closes_reads;   /* a QP that answers 0 READs at a time is closed to them */
	bool dies_of_overrun;       /* a CQ that overruns, and all QPs that use it */
	bool any_order;             /* the pieces of a WRITE or READ move in any order */
	bool srq_has_pd;            /* its receives are checked against its own PD, not the QP's */
	bool regions_may_end_first; /* of a program that dies: before its QPs do */
	bool tells_state;           /* ibv_query_qp says the state of a QP */
	bool forgets_finished;      /* completions of a QP that is destroyed vanish from its CQ */
};

struct sim_port {
	enum ibv_port_state state;
	enum ibv_mtu mtu;
	bool infiniband; /* otherwise Ethernet */
	uint16_t lid;
};

struct sim_gid {
	union ibv_gid gid;
	uint32_t port, index;
	enum ibv_gid_type type;
};

struct sim_device {
	char name[32];
	uint32_t number; /* its place among the devices */
	struct sim_traits traits;
	struct in6_addr addresses[SIM_MOST_ADDRESSES]; /* IPv4: mapped */
	uint32_t n_addresses;                          /* 0: it serves any */
	bool bare;                                     /* it serves none */
	int host;                                      /* the program that it serves; -1: all */
	struct sim_port ports[SIM_MOST_PORTS];
	uint32_t n_ports;
	struct sim_gid gids[SIM_MOST_GIDS];
	uint32_t n_gids;
	int used[SIM_KINDS]; /* objects that there are */
};

/* The devices of the world. */
struct sim_devices {
	struct sim_device all[SIM_MOST_DEVICES];
	uint32_t n;
	bool removed; /* they are gone: no address leads to one any more */
};

/*
 * Fills in the traits of a kind of device, by its name in the table of traits.c. Returns false if
 * there is no such kind.
 */
bool sim_read_kind(const char *kind, struct sim_traits *traits);

/*
 * Sets the traits that a real device has shown, from a file that tests/probe/ask has written. Returns
 * false if there is no such file, or none of them is in it.
 */
bool sim_read_answers(const char *path, struct sim_traits *traits);

/* Sets a trait by its name. Returns false if there is none, or this is no value of it. */
bool sim_set_trait(struct sim_traits *traits, const char *name, const char *value);

/*
 * Reads "KIND[=FILE][,NAME=VALUE]...", the argument of --device, for the device of this number. Returns
 * NULL, or the word that is wrong, which stays valid until the next call.
 */
const char *sim_read_device(const char *text, uint32_t number, struct sim_device *device);

/* Makes the devices of this run, as `texts` describe them; none: one of the kind roce. */
void sim_create_devices(const char *const *texts, uint32_t n);

/* Returns true if a device has this GID, or serves the address that the GID stands for. */
bool sim_has_gid(const struct sim_device *device, const union ibv_gid *gid);

/* The index of a GID; of an address that any device serves, that of the first address. */
uint32_t sim_gid_index(const struct sim_device *device, uint32_t port, const union ibv_gid *gid);

/* The GID of an address: IPv4 is mapped. */
union ibv_gid sim_gid_of(const struct sockaddr_storage *address);

/* The GID of a port with this index; NULL: there is none. */
const struct sim_gid *sim_find_gid(const struct sim_device *device, uint32_t port, uint32_t index);

/* The device by which a program uses an address; NULL: none serves it. */
struct sim_device *sim_device_at(const struct sockaddr_storage *address,
				 const struct sim_program *program);
#endif
