/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The simulated device: the state of each object, as driver and adapter keep it.
 *
 * Contract: it knows no connection manager, no transfer and no call of a program. The thread that
 * has the turn may call these functions, for the objects of any program; only memory.c reads and
 * writes memory of programs.
 */
#ifndef VERBS_SIM_DEVICE_DEVICE_H
#define VERBS_SIM_DEVICE_DEVICE_H
#include <infiniband/verbs.h>

#include "verbs-sim/device/devices.h"
#include "verbs-sim/device/disturbances.h"
#include "verbs-sim/device/faults.h"
#include "verbs-sim/device/rings.h"

/* ---- Channels: queues of events behind a descriptor ---- */

struct sim_event {
	TAILQ_ENTRY(sim_event) link;
	struct sim_object *about;
};

struct sim_channel {
	struct sim_object object;
	int fd;     /* an eventfd of the program: readable if `shown`; -1: it is closed */
	bool shown; /* the descriptor is readable: calls/descriptors.c */
	bool stale; /* `shown` may have to change: the channel is in its program's list */
	TAILQ_ENTRY(sim_channel) link;
	TAILQ_HEAD(sim_events, sim_event) events;
};

struct sim_async_event {
	struct sim_event head;
	enum ibv_event_type type;
};

void sim_init_channel(struct sim_channel *channel, int fd);
void sim_post_event(struct sim_channel *channel, struct sim_event *event);

/* Takes the oldest event, which is the caller's now; NULL if there is none. */
struct sim_event *sim_take_event(struct sim_channel *channel);

/* Takes any event out. */
void sim_remove_event(struct sim_channel *channel, struct sim_event *event);

/* Removes the channel from its program's list, because its descriptor is right, or closed. */
void sim_is_shown(struct sim_channel *channel);

/* Discards what is queued about an object that ends. */
void sim_discard_events(struct sim_channel *channel, const struct sim_object *about);

/* ---- Objects ---- */

#define SIM_MOST_OBJECT 4096 /* bytes in an object */

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

struct sim_region {
	uint64_t address, iova, length;
	int access;
};

/* Returns the key of an MR, from its number. As with drivers, the lowest byte is a separate counter. */
#define SIM_KEY_OF_MR(number) (0x1000 + (number)*0x100)
#define SIM_MR_OF_KEY(key)    (((key)-0x1000) / 0x100)

struct sim_mr {
	struct sim_object object;
	struct sim_pd *pd;
	uint32_t key; /* both lkey and rkey */
	struct sim_region region;
};

/* A memory window. */
struct sim_mw {
	struct sim_object object;
	struct sim_pd *pd;
	enum ibv_mw_type type;
	uint32_t key;
	struct sim_mr *mr;        /* its region; NULL: not bound */
	uint64_t address, length; /* the part of the region that it opens */
	int access;
	uint32_t qp;   /* the number of the QP that has bound it */
	uint64_t base; /* the first address that a peer uses */
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
	uint32_t depth;
	struct sim_ring ring;
	enum sim_armed armed;
	bool dead; /* it has overrun, and takes no completions */
};

#define SIM_RNR_FOREVER   7 /* a value of rnr_retry */
#define SIM_RETRY_FOREVER 7 /* a value of retry_cnt, on some devices */

/* A receive of a datagram begins with the GRH, of this many bytes. */
#define SIM_GRH         40
#define SIM_MOST_GROUPS 8 /* joined by a QP */

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
	struct sim_ring ring;
};

struct sim_srq {
	struct sim_object object;
	struct sim_pd *pd;
	struct sim_recv_queue queue;
	uint32_t asked; /* the number of receives that was asked for */
	uint32_t limit; /* 0: not armed */
};

/* The memory and access that a window is to be bound to. */
struct sim_binding {
	uint64_t address, length;
	uint32_t lkey, key; /* the region's; the window's new one */
	int access;
};

/* A posted send, WRITE, READ, atomic operation, or operation on a memory window. */
struct sim_request {
	TAILQ_ENTRY(sim_request) link, wire_link;
	bool completed, executed; /* when both are true, it is freed */
	uint64_t wr_id;
	enum ibv_wr_opcode opcode;
	unsigned int flags;
	__be32 imm;
	uint64_t remote_addr, compare_add, swap;
	struct {
		struct ibv_ah_attr path;
		uint32_t qp_num, qkey;
	} to; /* the receiver of a datagram */
	struct sim_binding binding;
	uint32_t rkey; /* key of the memory that it reaches, binds or invalidates */
	uint32_t length;
	enum ibv_wc_status status;
	uint32_t rnr_retries;
	uint64_t not_before_ns; /* the time to try again */
	bool asked;             /* in the QP's `reads`, and no longer on the wire */
	uint32_t piece, n_pieces, first_piece, pieces_moved; /* n_pieces 0: not divided yet */
	uint32_t moved;                                      /* a bit for each piece */
	bool begun;                                          /* its first packets have arrived */
	uint64_t sum;      /* checksum of the data when posted: see strict.c; 0: unknown */
	uint64_t since_ns; /* first sent then to a peer that does not answer; 0: not sent yet */
	uint8_t *data; /* inline data, or data copied from the program's memory already; or NULL */
	int num_sge;
	struct ibv_sge sge[];
};
TAILQ_HEAD(sim_requests, sim_request);

static inline bool sim_is_send(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ||
	       opcode == IBV_WR_SEND_WITH_INV;
}

static inline bool sim_is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/* Returns true if the response brings data, which goes into the memory of the SGEs. */
static inline bool sim_brings_data(const struct sim_request *request)
{
	return request->opcode == IBV_WR_RDMA_READ || sim_is_atomic(request->opcode);
}

struct sim_endpoint;
struct sim_qp {
	struct sim_object object;
	struct sim_pd *pd;
	struct sim_cq *send_cq, *recv_cq;
	struct sim_srq *srq;
	struct sim_endpoint *endpoint; /* NULL: connected without rdma_cm */
	struct sim_qp **of_endpoint;   /* the endpoint's pointer to this QP, which ends with it */
	enum ibv_qp_state state;
	enum ibv_qp_type type;
	bool sq_sig_all;
	uint64_t failed_ns; /* the time of its error state */
	bool halted;        /* sends nothing more, until it is reset */
	bool stale; /* its GID has another index now: messages come, but nothing leaves it until its reset */
	struct ibv_qp_cap cap;
	struct ibv_qp_attr attr;
	struct sim_requests sends; /* not completed yet, in order */
	struct sim_requests wire;  /* not executed yet, in order */
	struct sim_requests
		reads; /* READs and atomic operations that the peer has not answered yet */
	uint32_t n_reads;
	struct sim_requests unpolled; /* completed, but with places that are not free yet */
	uint32_t n_sends;
	struct sim_ring ring; /* for sends */
	uint64_t ahead;       /* iWARP: bytes that have completed before they arrived */
	struct sim_recv_queue recvs;
	struct sim_recvs flushed; /* flushed, and not polled yet */
	struct sim_recv *torn;    /* taken by a message that has only begun to arrive, or NULL */
	union ibv_gid groups[SIM_MOST_GROUPS]; /* joined multicast groups */
	uint32_t n_groups;
	struct sim_task execute, acknowledge;
};

static inline const struct sim_traits *sim_qp_traits(const struct sim_qp *qp)
{
	return sim_traits(qp->pd->context);
}

static inline struct sim_host sim_host_of(const struct sim_qp *qp)
{
	return (struct sim_host){ qp->object.program, qp->pd->context->device };
}

static inline bool sim_is_iwarp(const struct sim_qp *qp)
{
	return sim_qp_traits(qp)->iwarp;
}

/* ---- Queries of a device: queries.c ---- */

__be64 sim_guid_of(const struct sim_device *device);
void sim_query_device(const struct sim_device *device, struct ibv_device_attr *attr);

/* Queries a port. Returns 0, or EINVAL: there is no such port. */
int sim_query_port(struct sim_host host, uint32_t number, struct ibv_port_attr *attr);

/* Returns the state of a port that the device has. */
enum ibv_port_state sim_port_state(struct sim_host host, uint32_t number);

/* Returns the size of the GID table: the driver's, or more if the last GID of the port needs it. */
uint32_t sim_gid_places(const struct sim_device *device, uint32_t port);

/* ---- Memory: memory.c ---- */

/* Returns the program's region with this key; NULL: it has none. */
struct sim_mr *sim_find_key(const struct sim_program *program, uint32_t key);

bool sim_is_inside(const struct sim_mr *mr, uint64_t address, uint64_t length);

/*
 * Returns the region of this PD that allows `access` to this memory; NULL: none does. `access` is
 * IBV_ACCESS_..., or 0 for reading by the program's own device.
 */
const struct sim_mr *sim_find_mr(const struct sim_pd *pd, uint32_t key, uint64_t address,
				 uint64_t length, int access);

/*
 * Returns true if all of this memory of the calling program is mapped, and writable if `to_write`;
 * and if /proc cannot be read.
 */
bool sim_is_mapped(uint64_t address, uint64_t length, bool to_write);

/* Copies from or to the memory of a program. Returns 0, or EFAULT if it is not there. */
int sim_read_memory(const struct sim_program *program, uint64_t address, void *to, size_t length);
int sim_write_memory(const struct sim_program *program, uint64_t address, const void *from,
		     size_t length);

/*
 * Copies from or to the memory of SGEs. Returns 0, or EFAULT if it is not registered for that in this
 * PD.
 */
int sim_gather(const struct sim_pd *pd, const struct ibv_sge *sge, int num_sge, uint8_t *to);
int sim_scatter(const struct sim_pd *pd, const struct ibv_sge *sge, int num_sge,
		const uint8_t *from, size_t length);

/* ---- Memory windows: windows.c ---- */

/*
 * Bind a window for a QP, or invalidate a window of type 2; on iWARP a region, whose key then names
 * nothing. Each returns 0, or EINVAL: the device does not allow it.
 */
int sim_bind_mw(const struct sim_qp *qp, const struct sim_request *request);
int sim_invalidate(const struct sim_qp *qp, uint32_t key);

/* Unbinds a memory window. */
void sim_unbind_mw(struct sim_mw *mw);

/*
 * Returns the region that a peer of this QP may access so, by the key of region or window; NULL:
 * none. The address becomes one of the region.
 */
const struct sim_mr *sim_find_remote(const struct sim_qp *qp, uint32_t key, uint64_t *address,
				     uint64_t length, int access);

/* ---- Queues: queues.c ---- */

/* Returns the number of completions that can be polled. */
uint32_t sim_pending(const struct sim_cq *cq);

void sim_complete(struct sim_cq *cq, const struct ibv_wc *wc, bool solicited);
void sim_complete_recv(struct sim_qp *qp, const struct sim_recv *recv, enum ibv_wc_status status);

/* Return names, such as "RECV", "WR_FLUSH_ERR", "PORT_ERR" and "ESTABLISHED": names.c. */
const char *sim_opcode_name(enum ibv_wc_opcode opcode);
const char *sim_status_name(enum ibv_wc_status status);
const char *sim_async_name(enum ibv_event_type type);
const char *sim_cm_event_name(int type);

/* Returns the status of a completion: `status`, or the error that --fail asks for. */
enum ibv_wc_status sim_judge(struct sim_program *program, enum ibv_wc_status status);

void sim_post_async(struct sim_context *context, enum ibv_event_type type,
		    struct sim_object *about);

/*
 * Posts the receives that the library of this program has put into the ring of a queue, while there
 * is memory for them.
 */
void sim_read_recvs(const struct sim_program *program, struct sim_recv_queue *queue);

/* Return the queue of a QP's receives, and the PD that their memory must belong to. */
struct sim_recv_queue *sim_recvs_of(struct sim_qp *qp);
const struct sim_pd *sim_recv_pd(const struct sim_qp *qp);

/* Return the oldest receive of a QP; NULL: none is posted. The second takes it out, for the caller. */
struct sim_recv *sim_next_recv(struct sim_qp *qp);
struct sim_recv *sim_take_recv(struct sim_qp *qp);

/* Returns true if a receive has room for `length` bytes. */
bool sim_fits(const struct sim_recv *recv, uint32_t length);

/* ---- Messages that programs receive: messages.c ---- */

/*
 * To be called before a program gets a message, which is anything that it gets of others in one
 * piece: counts it, and changes it if --fail says so. `most` is the room for it in bytes;
 * SIM_FIXED: the program is not told its length. Returns its length now.
 */
#define SIM_FIXED 0
uint32_t sim_receive(const struct sim_program *program, void *data, uint32_t length, uint32_t most);

/* ---- QPs: qp.c ---- */

#define SIM_TCP_BUFFER (1 << 20) /* bytes that TCP takes in advance of their arrival */

/* Returns the time that a request of `length` bytes takes to the peer. */
uint64_t sim_arrival_ns(uint64_t length);

struct sim_qp *sim_find_qp(uint32_t number);

/* Returns the QP that this one is connected to, if that takes messages and they pass; otherwise NULL. */
struct sim_qp *sim_peer_of(const struct sim_qp *qp);

/* Returns what would become of the answer of `peer` to a request of this QP. */
enum sim_passage sim_passage_of_answer(const struct sim_qp *qp, const struct sim_qp *peer);

/* Moves the QP into the error state, and flushes all that is posted. */
void sim_fail_qp(struct sim_qp *qp);

/* Returns true if a CQ of this QP is dead; then the QP fails, and its program is told. */
bool sim_fails_with_cq(struct sim_qp *qp);

/* Flushes the receives that are posted to the QP. */
void sim_flush_recvs(struct sim_qp *qp);

/* Resets the QP, and ends its requests and receives without completions. */
void sim_reset_qp(struct sim_qp *qp);

/*
 * Posts a request, which the QP owns from now on. In the error state RoCE flushes it at once, and
 * iWARP loses it without a completion.
 */
void sim_post(struct sim_qp *qp, struct sim_request *request);

/*
 * Returns EINVAL for a READ on a QP of soft-iWARP without the depth for it, which sends nothing
 * more; 0 for any other request.
 */
int sim_judge_read(struct sim_qp *qp, enum ibv_wr_opcode opcode);

/*
 * Returns the result of soft-iWARP's doorbell. While a connection ends: 0, ENOTCONN, or EPIPE if
 * the device writes to the connection, which TCP has closed. Later 0, and the request is lost.
 */
int sim_judge_doorbell(const struct sim_qp *qp);

/* Makes the completion of the oldest request, with its status. */
void sim_complete_send(struct sim_qp *qp, struct sim_request *request);

/* ---- Places in the queues of a QP: places.c ---- */

/* Returns true if a completion reports the end of the request. */
bool sim_is_reported(const struct sim_qp *qp, const struct sim_request *request);

/*
 * Ends the request, with a completion if it is signaled. Its place is free at once, or when the
 * completion has been polled.
 */
void sim_release(struct sim_qp *qp, struct sim_request *request);

/* To be called when the program has polled a completion of this QP. */
void sim_end_polled(struct sim_qp *qp, const struct ibv_wc *wc);

/* To be called when the QP ends: its completions may vanish, and its places are free. */
void sim_forget_finished(struct sim_qp *qp);

/* ---- States of QPs: states.c ---- */

/*
 * Changes the attributes of a QP that `mask` names (IBV_QP_...), also its state. Returns 0, or
 * EINVAL if the device does not allow it.
 */
int sim_modify_qp(struct sim_qp *qp, const struct ibv_qp_attr *attr, int mask);

/*
 * Checks, as a driver does, that an address is complete, and leads out of this host. Returns 0, or EINVAL.
 */
int sim_check_path(struct sim_host host, uint32_t port, const struct ibv_ah_attr *path);

/*
 * ---- Grants: granting.c ----
 *
 * Each returns 0, or the errno value with which the device refuses: EINVAL for more than it has,
 * ENOMEM if there are enough objects already, EFAULT for memory that is not there, EOPNOTSUPP for a
 * type of QP that it does not know, or for memory windows, if it has none.
 * The last argument that is a pointer is what was asked for, and then what is
 * granted.
 */

#define SIM_VECTORS 2 /* completion vectors: one for each processor, as the drivers have */

int sim_judge_mr(const struct sim_device *device, const struct sim_region *region);
int sim_judge_mw(const struct sim_device *device, unsigned int type);
int sim_judge_cq(const struct sim_device *device, uint32_t cqe, uint32_t vector, uint32_t *depth);
int sim_judge_resize(const struct sim_cq *cq, uint32_t cqe);
int sim_judge_srq(const struct sim_device *device, uint32_t *max_wr, uint32_t max_sge);
int sim_judge_qp(const struct sim_device *device, enum ibv_qp_type type, struct ibv_qp_cap *cap);

/*
 * Returns how many bytes this program may lock (RLIMIT_MEMLOCK). The limit with which verbs-sim itself
 * was started does not count, so that a run is the same for each user: only one that the program, or a
 * shell before it, has set. Nor does it count whether the user is root.
 */
uint64_t sim_memory_limit(void);

/*
 * ---- Creating and destroying: objects.c ----
 *
 * A create function always succeeds; its caller has checked the request. A destroy function must
 * not be called while the object has users.
 */

struct sim_qp_needs {
	struct sim_cq *send_cq, *recv_cq;
	struct sim_srq *srq; /* NULL: it has receives of its own */
	enum ibv_qp_type type;
	bool sq_sig_all;
	struct ibv_qp_cap cap;
};

/* Returns true if the device allows one more object of this kind, and there is memory for it. */
bool sim_has_room(const struct sim_device *device, enum sim_kind kind);

struct sim_pd *sim_create_pd(struct sim_context *context, void *user);
struct sim_mr *sim_create_mr(struct sim_pd *pd, void *user, const struct sim_region *region);
struct sim_mw *sim_create_mw(struct sim_pd *pd, enum ibv_mw_type type);
struct sim_ah *sim_create_ah(struct sim_pd *pd, void *user, const struct ibv_ah_attr *path);
struct sim_cq *sim_create_cq(struct sim_context *context, uint32_t depth,
			     struct sim_channel *channel, void *user);
struct sim_srq *sim_create_srq(struct sim_pd *pd, uint32_t max, uint32_t max_sge, void *user);
struct sim_qp *sim_create_qp(struct sim_pd *pd, const struct sim_qp_needs *needs, void *user);

/* Sets the attributes in `mask` (IBV_SRQ_...). Returns 0, or EINVAL: the device cannot. */
int sim_modify_srq(struct sim_srq *srq, const struct ibv_srq_attr *attr, int mask);

void sim_destroy_pd(struct sim_pd *pd);
void sim_destroy_mr(struct sim_mr *mr);
void sim_destroy_mw(struct sim_mw *mw);
void sim_destroy_ah(struct sim_ah *ah);
void sim_destroy_cq(struct sim_cq *cq);
void sim_destroy_srq(struct sim_srq *srq);
void sim_destroy_qp(struct sim_qp *qp);
void sim_destroy_channel(struct sim_channel *channel);

/*
 * ---- Checks for errors of a program that the device lets pass: strict.c ----
 *
 * With --strict such an error is reported, and the run ends with a special status. A check changes
 * nothing that a program can see.
 */

/* Checks a posted receive: no other receive of the queue may have its memory. */
void sim_check_recv(const struct sim_program *program, const struct sim_recv_queue *queue,
		    const struct ibv_sge *sge, int num_sge);

/* Check a send or WRITE when posted and completed: its data must not change in between. */
void sim_remember_data(const struct sim_qp *qp, struct sim_request *request);
void sim_check_data(const struct sim_qp *qp, const struct sim_request *request);

/* Checks a posted request: the QP must have been granted its number of inline bytes. */
void sim_check_inline(const struct sim_qp *qp, const struct sim_request *request);

/* Checks a READ over iWARP: one piece of memory, which allows IBV_ACCESS_REMOTE_WRITE. */
void sim_check_sink(const struct sim_qp *qp, const struct sim_request *request);

/* Checks a new QP: its CQs must have room for all that it can have outstanding. */
void sim_check_depth(const struct sim_qp *qp);

/* Checks a QP that is about to be connected: a receive must be posted. */
void sim_check_receives(const struct sim_qp *qp);

/* Checks memory that ends, or whose region does: no posted request may use it. `how`: such as "freed". */
void sim_check_end(const struct sim_program *program, uint64_t address, uint64_t length,
		   const char *how);
#endif
