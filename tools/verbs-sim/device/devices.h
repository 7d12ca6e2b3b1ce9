/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The devices of the simulated machine: how each behaves (traits.c), and its addresses, ports and
 * GIDs (devices.c).
 *
 * Contract: the runner makes them before the first program runs; then they stay as they are. What
 * disturbs them on the host of a program is in disturbances.h, and asked for where it matters.
 */
#ifndef VERBS_SIM_DEVICE_DEVICES_H
#define VERBS_SIM_DEVICE_DEVICES_H
#include <infiniband/verbs.h>
#include <netinet/in.h>

#include "verbs-sim/device/kinds.h"

#define SIM_MOST_DEVICES   8
#define SIM_MOST_PORTS     2
#define SIM_MOST_GIDS      16 /* in one device */
#define SIM_MOST_ADDRESSES 8

/* The traits in which devices differ: see docs/drivers.md, and traits.c. */
struct sim_traits {
	bool iwarp;
	uint32_t abi;        /* the version of what its driver and its library share */
	int most[SIM_KINDS]; /* objects of each kind, in all programs together; 0: any number */
	struct ibv_device_attr attr; /* other attributes of the device */
	struct ibv_port_attr port;   /* attributes of each port */
	uint32_t max_inline;         /* bytes that a QP may be granted */
	/* Grants. */
	uint32_t inline_piece; /* bytes of inline data that take the place of an SGE; 0: as asked */
	bool rounds_wr, rounds_cq, rounds_srq; /* up to a power of two; an SRQ, less one */
	bool exact; /* a queue takes only as many as granted, though its ring has more slots */
	bool frees_polled; /* a place in a queue is free when a completion of it has been polled */
	/* The connection manager. */
	uint8_t padded_request, padded_reply, padded_reject; /* the least bytes of private data */
	int nobody_listens, rejected,
		backlog_full; /* statuses of RDMA_CM_EVENT_REJECTED; 0: dropped */
	/* The times until rdma_connect fails (nobody is there; nobody accepts), and rdma_disconnect. */
	uint64_t request_lost_ns, not_answered_ns, disconnect_lost_ns;
	uint64_t resend_ns, timewait_ns; /* RoCE: see docs/drivers.md, "At a glance" */
	uint64_t tcp_lost_ns;            /* iWARP: the time until TCP gives up */
	bool retries_forever;            /* retry_cnt 7 is forever; otherwise seven times */
	bool coarse_timeouts;            /* a timeout is rounded up as Linux's timers are */
	uint8_t ack_timeout;             /* RoCE: a code as in struct ibv_qp_attr */
	bool ends_with_port;             /* iWARP: connections end when the port goes down */
	/* Completions. */
	enum ibv_wc_status no_path; /* its own port is down, or its GID has moved; 0: no answer */
	enum ibv_wc_status beyond_region; /* on this side, with a key that is right */
	enum ibv_wc_status bad_local_key, bad_sink, bad_opcode, bad_bind; /* sink: READ target */
	enum ibv_wc_status bad_recv_key, bad_recv_there; /* at the receiver, and at the sender */
	enum ibv_wc_status too_long_here, too_long_there;
	bool drops_too_long; /* loses a datagram that its receive has no room for: the QP lives */
	uint32_t loses;      /* loses one of this many datagrams; 0: none */
	uint32_t repeats;    /* one of this many datagrams arrives twice; 0: none */
	bool solicited;      /* a CQ can be armed for solicited messages */
	bool flushes_torn;   /* the receive of a message that breaks off is flushed, not lost */
	bool flushes_late;   /* a receive that is posted in the error state is flushed */
	bool last_wqe;       /* a QP with an SRQ says that it takes no more receives */
	bool atomic_write;   /* RC has IBV_WR_ATOMIC_WRITE */
	/* A request has left before ibv_post_send returns, and on UD and UC has completed. */
	bool sends_at_once;
	bool tells_responder; /* a responder gets an event for a request that it refused */
	bool overlaps_reads;  /* requests do not wait for a READ or atomic operation before them */
	bool limits_windows;  /* an access must be inside of the window, not only of its region */
	bool limits_answers;  /* a QP cannot answer more READs at a time than the device says */
	bool closes_reads;    /* a QP that answers 0 READs at a time is closed to them */
	bool dies_of_overrun; /* an overrun ends the CQ, and all QPs that use it */
	bool any_order;       /* the pieces of a WRITE or READ move in any order */
	bool srq_has_pd;      /* an SRQ checks receives against its own PD, not the QP's */
	bool regions_may_end_first; /* regions of a dead program may end before its QPs */
	bool tells_state;           /* ibv_query_qp returns the state of a QP */
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
	uint32_t number; /* the index among the devices */
	struct sim_traits traits;
	struct in6_addr addresses[SIM_MOST_ADDRESSES]; /* IPv4 is mapped */
	uint32_t n_addresses;                          /* 0: it serves any address */
	bool bare;                                     /* it serves no address */
	int host;                                      /* the program that sees it; -1: all */
	struct sim_port ports[SIM_MOST_PORTS];
	uint32_t n_ports;
	struct sim_gid gids[SIM_MOST_GIDS];
	uint32_t n_gids;
	int used[SIM_KINDS]; /* the objects that exist */
};

/* A device of a program's host. Each program has one of its own, also if one device serves several. */
struct sim_host {
	const struct sim_program *program;
	const struct sim_device *device; /* NULL: any */
};

/* The devices of the world. */
struct sim_devices {
	struct sim_device all[SIM_MOST_DEVICES];
	uint32_t n;
	LIST_HEAD(sim_disturbances, sim_disturbance) disturbances;
	bool removed; /* the devices are gone: no address leads to one any more */
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

/* Sets a trait by its name. Returns false if there is no such trait, or it cannot have this value. */
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

/* Returns the index of a GID; if a device serves any address, that of its first one. */
uint32_t sim_gid_index(struct sim_host host, uint32_t port, const union ibv_gid *gid);

/* Returns the GID of an address: IPv4 is mapped. */
union ibv_gid sim_gid_of(const struct sockaddr_storage *address);

/* Returns the GID of a port with this index; NULL: there is none. */
const struct sim_gid *sim_find_gid(struct sim_host host, uint32_t port, uint32_t index);

/* Returns the device by which a program uses an address; NULL: none serves it. */
struct sim_device *sim_device_at(const struct sockaddr_storage *address,
				 const struct sim_program *program);
#endif
