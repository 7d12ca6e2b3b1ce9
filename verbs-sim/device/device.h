/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The simulated device: what the driver and the adapter keep of each object, and what they do by
 * themselves.
 *
 * Contract: of the connection manager it knows the end of a connection (verbs-sim/cm/cm.h), and no
 * call of a program. Whoever has the turn may call these functions, for the objects of any program;
 * memory of programs is only read and written through memory.c.
 */
#ifndef VERBS_SIM_DEVICE_DEVICE_H
#define VERBS_SIM_DEVICE_DEVICE_H
#include <infiniband/verbs.h>

#include "verbs-sim/device/devices.h"

/* What tasks there are. The object of each is named behind it. */
enum sim_task_kind {
	SIM_TASK_EXECUTE = 1, /* QP: the next work request reaches the peer */
	SIM_TASK_ACKNOWLEDGE, /* QP: the oldest work request completes */
	SIM_TASK_DELIVER,     /* endpoint: the next message of the connection manager arrives */
	SIM_TASK_GIVE_UP,     /* endpoint: no answer came in time */
	SIM_TASK_ALARM,       /* program: alarm(2) */
	SIM_TASK_TIMER        /* timer of a program: timerfd_create(2) */
};

/* How long a message of the device or of the connection manager takes. */
uint64_t sim_latency_ns(uint64_t length);

/* A timer of a program. */
struct sim_timer {
	struct sim_task task;
	struct sim_program *program;
	uint64_t interval_ns, expired;
};

/* ---- Channels: queues of events behind a descriptor ---- */

struct sim_event {
	TAILQ_ENTRY(sim_event) link;
	struct sim_object *about;
};

struct sim_channel {
	struct sim_object object;
	int fd;     /* an eventfd of the program: readable if `shown` */
	bool shown; /* see calls/descriptors.c */
	TAILQ_HEAD(sim_events, sim_event) events;
};

struct sim_async_event {
	struct sim_event head;
	enum ibv_event_type type;
};

void sim_init_channel(struct sim_channel *channel, int fd);
void sim_post_event(struct sim_channel *channel, struct sim_event *event);

/* The oldest one, which is the caller's now; NULL if there is none. */
struct sim_event *sim_take_event(struct sim_channel *channel);

/* Discards what is queued about an object that ends. */
void sim_discard_events(struct sim_channel *channel, const struct sim_object *about);

/* ---- Objects ---- */

struct sim_context {
	struct sim_channel async; /* asynchronous events */
	struct sim_device *device;
};

static inline const struct sim_traits *sim_traits(const struct sim_context *context)
{
	return &context->device->traits;
}

struct sim_pd {
	struct sim_object object;
	struct sim_context *context;
};

struct sim_ah {
	struct sim_object object;
	struct sim_pd *pd;
	struct ibv_ah_attr path;
};

struct sim_mr {
	struct sim_object object;
	struct sim_pd *pd;
	uint32_t key; /* lkey and rkey */
	uint64_t iova, address, length;
	int access;
};

enum sim_armed {
	SIM_NOT_ARMED,
	SIM_ARMED_SOLICITED,
	SIM_ARMED
};

struct sim_cq {
	struct sim_object object;
	struct sim_context *context;
	struct sim_channel *channel;
	uint32_t depth, head, count;
	struct ibv_wc *ring;
	enum sim_armed armed;
};

/* What comes before the data of a datagram, in the memory of its receive. */
#define SIM_GRH         40
#define SIM_MOST_GROUPS 8 /* that a QP has joined */

struct sim_recv {
	TAILQ_ENTRY(sim_recv) link;
	uint64_t wr_id;
	int num_sge;
	struct ibv_sge sge[];
};
TAILQ_HEAD(sim_recvs, sim_recv);

struct sim_recv_queue {
	struct sim_recvs posted;
	uint32_t count, max, max_sge;
};

struct sim_srq {
	struct sim_object object;
	struct sim_pd *pd;
	struct sim_recv_queue queue;
	uint32_t asked; /* of the receives that were granted */
	uint32_t limit; /* 0: not armed */
};

/* A send, WRITE, READ or atomic operation that was posted. */
struct sim_request {
	TAILQ_ENTRY(sim_request) link, wire_link;
	bool completed, executed; /* it is freed when it is both */
	uint64_t wr_id;
	enum ibv_wr_opcode opcode;
	unsigned int flags;
	__be32 imm;
	uint64_t remote_addr, compare_add, swap;
	struct {
		struct ibv_ah_attr path;
		uint32_t qp_num, qkey;
	} to; /* of a datagram */
	uint32_t rkey, length;
	enum ibv_wc_status status;
	uint32_t rnr_retries;
	uint32_t piece, n_pieces, first_piece, pieces_moved; /* n_pieces 0: not divided yet */
	bool begun;                                          /* its first packets have arrived */
	uint64_t sum;      /* of its data when it was posted: see strict.h; 0: not known */
	uint64_t since_ns; /* when it was first sent to a peer that did not answer; 0: not yet */
	uint8_t *data;     /* inline, or taken from the program's memory already; otherwise NULL */
	int num_sge;
	struct ibv_sge sge[];
};
TAILQ_HEAD(sim_requests, sim_request);

struct sim_endpoint;
struct sim_qp {
	struct sim_object object;
	struct sim_pd *pd;
	struct sim_cq *send_cq, *recv_cq;
	struct sim_srq *srq;
	struct sim_endpoint *endpoint; /* NULL: connected without rdma_cm */
	enum ibv_qp_state state;
	enum ibv_qp_type type;
	bool sq_sig_all;
	uint64_t failed_ns; /* when it went into the error state */
	bool halted;        /* sends nothing more, until it is reset */
	struct ibv_qp_cap cap;
	struct ibv_qp_attr attr;
	struct sim_requests sends; /* not completed yet, in order */
	struct sim_requests wire;  /* not executed yet, in order */
	uint32_t n_sends;
	uint64_t ahead; /* iWARP: bytes of what has completed before it arrived */
	struct sim_recv_queue recvs;
	struct sim_recv *torn; /* taken by a message that has only begun to arrive, or NULL */
	union ibv_gid groups[SIM_MOST_GROUPS]; /* of multicast, that it has joined */
	uint32_t n_groups;
	struct sim_task execute, acknowledge;
};

static inline const struct sim_traits *sim_qp_traits(const struct sim_qp *qp)
{
	return sim_traits(qp->pd->context);
}

static inline bool sim_is_iwarp(const struct sim_qp *qp)
{
	return sim_qp_traits(qp)->iwarp;
}

/* ---- Memory: memory.c ---- */

/*
 * Whether the program's memory may be accessed so. `access`: IBV_ACCESS_..., 0 for reading by the
 * program's own device.
 */
const struct sim_mr *sim_find_mr(const struct sim_program *program, uint32_t key, uint64_t address,
				 uint64_t length, int access);

/* Copies from or to the memory of a program. Returns 0, or EFAULT if it is not there. */
int sim_read_memory(const struct sim_program *program, uint64_t address, void *to, size_t length);
int sim_write_memory(const struct sim_program *program, uint64_t address, const void *from,
		     size_t length);

/*
 * The same for the memory of SGEs, which has to be registered for `access`. Returns EFAULT if it is
 * not.
 */
int sim_gather(const struct sim_program *program, const struct ibv_sge *sge, int num_sge,
	       uint8_t *to);
int sim_scatter(const struct sim_program *program, const struct ibv_sge *sge, int num_sge,
		const uint8_t *from, size_t length);

/* ---- Queues: queues.c ---- */

void sim_complete(struct sim_cq *cq, const struct ibv_wc *wc, bool solicited);
void sim_complete_recv(struct sim_qp *qp, const struct sim_recv *recv, enum ibv_wc_status status);

/* Takes out what has not been polled of a QP. */
void sim_forget_completions(struct sim_cq *cq, uint32_t qp_num);
void sim_post_async(struct sim_context *context, enum ibv_event_type type,
		    struct sim_object *about);

/* The oldest receive of a QP; NULL: none is posted. Taken out, it is the caller's. */
struct sim_recv *sim_next_recv(struct sim_qp *qp);
struct sim_recv *sim_take_recv(struct sim_qp *qp);

/* ---- QPs: qp.c ---- */

struct sim_qp *sim_find_qp(uint32_t number);

/* The QP that this one is connected to, if it takes messages; otherwise NULL. */
struct sim_qp *sim_peer_of(const struct sim_qp *qp);

/* Into the error state: all that is posted is flushed. */
void sim_fail_qp(struct sim_qp *qp);

/* Flushes the receives that are posted to it. */
void sim_flush_recvs(struct sim_qp *qp);

/* The QP ends, and what was posted to it, without completions. */
void sim_end_qp(struct sim_qp *qp);

/* Posts a request, which is the QP's now. */
void sim_post(struct sim_qp *qp, struct sim_request *request);

/* The oldest request has completed, with its status. */
void sim_complete_send(struct sim_qp *qp, struct sim_request *request);

/* ---- Transfers: transfer.c, remote.c and datagram.c ---- */

/* What --fail asks for: the next completion of this program has another status. */
enum ibv_wc_status sim_judge(struct sim_program *program, enum ibv_wc_status status);

/* Whether a receive has room for so many bytes. */
bool sim_fits(const struct sim_recv *recv, uint32_t length);

/* A UD QP sends, with the data of the request. Returns the status of that. */
enum ibv_wc_status sim_send_datagram(struct sim_qp *qp, const struct sim_request *request);
bool sim_is_multicast(const union ibv_gid *gid);

/* Whether the answer brings data, which goes into the memory of the SGEs. */
bool sim_is_atomic(const struct sim_request *request);
bool sim_brings_data(const struct sim_request *request);

/*
 * Accesses the peer's memory, or moves a piece of the data: then it returns EAGAIN until all are
 * moved, and programs run in between. Returns 0, EACCES or EFAULT. What it brings is in
 * request->data.
 */
int sim_access(struct sim_qp *peer, struct sim_request *request);

/* The tasks of a QP. */

void sim_execute(struct sim_qp *qp);
void sim_acknowledge(struct sim_qp *qp);
#endif
