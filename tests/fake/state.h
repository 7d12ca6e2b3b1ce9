/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, internal interfaces. Contract: one lock protects all state. fake_begin takes
 * it and fake_end releases it; every other function here is called with it held.
 */
#ifndef FAKE_STATE_H
#define FAKE_STATE_H

#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/queue.h>
#include <time.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "tests/fake/fake.h"

#define FAKE_MAX_WR         1024
#define FAKE_PRIVATE_DATA   256
#define FAKE_MAX_DEVICES    32
#define FAKE_MAX_SGE        4
#define FAKE_CREDIT_RECVS   3 /* of a client that is a stranger: strangers.c */
#define fake_of(type, pub_) ((type *)(void *)((char *)(pub_)-offsetof(type, pub)))

/* ---- ledger.c: every object that exists or existed; none is freed before the end ---- */

struct fake_object {
	LIST_ENTRY(fake_object) all;
	const char *what;    /* "CQ" */
	unsigned int number; /* the number among objects of its kind */
	bool alive;
	bool hidden;        /* the program need not destroy it */
	unsigned int users; /* objects that need this one */
	void *handle;       /* the memory that the program has, */
	size_t size;        /* and its size in bytes */
};

void fake_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *fake_create(const char *what, size_t size, size_t handle_offset, size_t handle_size);
#define fake_new(type, what) \
	((type *)fake_create(what, sizeof(type), offsetof(type, pub), sizeof(((type *)0)->pub)))
/* Returns whether the object is alive; reports it if not. */
bool fake_use(const struct fake_object *object, const char *call);
/*
 * Ends the object. Reports an object that has ended already, or that others need. Returns false if
 * it must continue to exist.
 */
bool fake_retire(struct fake_object *object, const char *call);
void fake_judge_memory(void); /* memory.c: the same of memory */
void fake_open_ledger(void);  /* to be called when the program under test starts, */
void fake_judge_ledger(void); /* and when it has ended: reports objects that are left */

/* ---- calls.c: counts the calls, and makes one of them fail ---- */

struct fake_fault {
	const char *name;
	int error;                     /* the call fails at once, */
	int says;                      /* ... and the message has another error; 0: this one */
	bool at_last;                  /* or at the last work request of its chain */
	enum rdma_cm_event_type event; /* this event comes instead, if has_event */
	int status;
	bool has_event;
	enum ibv_wc_status wc_status; /* a completion with this error */
	bool peer_leaves;
	bool peer_has_left; /* just before the call */
	bool leaves_after;  /* ... the message has been delivered */
	bool device_leaves;
	bool cut;         /* the message is one byte too short */
	bool peers_doing; /* not a failure of the server itself: it continues, and exits with 0 */
	enum fake_expected expected;
};

extern const struct fake_config *fake_config;
extern struct fake_report *fake_report;

/* faults.c: */

/*
 * Finds way number `choice` (from 0) in which `call` fails; returns false if there are not that many.
 */
bool fake_choose_fault(const char *call, unsigned int choice, struct fake_fault *fault);
unsigned int fake_count_faults(const char *call);

void fake_strikes(void); /* the program can notice the fault */

/* Takes the lock and counts the call. Returns how it is to fail; all zero: it is not. */
struct fake_fault fake_begin(const char *call);
/* The same for a call that cannot fail. */
void fake_begin_sure(const char *call);
/*
 * Carries out what the call has caused, releases the lock, sets errno if `error` is not 0; returns
 * `error`.
 */
int fake_end(int error);
void fake_stop_program(void); /* sends SIGTERM, if the program has a handler */
static inline int fake_end_rdma(int error)
{
	return fake_end(error) ? -1 : 0;
}

void fake_lock(void);
void fake_unlock(void);
void fake_changed(void);                   /* wakes those in fake_await_change */
bool fake_await_change(void);              /* releases the lock; false: no change for seconds */
bool fake_chance(unsigned int one_in);     /* only in FAKE_WILD */
bool fake_interrupts(unsigned int one_in); /* the same for EINTR */
unsigned int fake_random(unsigned int below);
void fake_hurry(void); /* a millisecond has passed, if config says so */
uint64_t fake_to_ns(const struct timespec *time);
void fake_skip_time(const struct timespec *time); /* this time has passed */
bool fake_skips_waits(void); /* waits are skipped: the clock is advanced instead */
/*
 * threads.c. With the lock held. If another thread of the program has something to do, it gets a
 * millisecond of real time, and this returns true. The number of these waits is limited, because
 * some programs never rest.
 */
bool fake_wait_for_thread(void);
void fake_forget_poller(void); /* of this thread: that was in an earlier run */
/* With the lock held, before the clock is advanced for a thread that has polled in vain. */
void fake_note_poll_in_vain(void);
/* With the lock held: gives it up for a millisecond of real time. */
void fake_let_others_run(void);
void fake_stop_program(void);
void fake_tell_late(uint64_t ns); /* the program waits so long: events that were held back come */
void fake_check_alarm(
	const char *call); /* the program works: no call that may block is under way */
void fake_check_end(void); /* the program blocks: if it was told to stop, an alarm ends that soon */
struct sigaction;
/* To be called before the program gets a handler: what it gets instead. */
const struct sigaction *fake_watch_alarm(int number, const struct sigaction *action);
unsigned int fake_alarm_s(void);  /* for how long the alarm was set last */
bool fake_insist(void);           /* the program waits: the second signal comes, if due */
void *fake_allocate(size_t size); /* zeroed; never fails, is never counted */

/* ---- known_time.c ---- */

bool fake_time_is_known(void);
uint64_t fake_known_now_ns(void);
void fake_pass_message_time(void);
uint64_t fake_due_ns(void); /* when the next message comes by itself */
void fake_due_arrived(void);
void fake_pass_call_time(const char *call);
void fake_note_look(int found, const struct ibv_wc *wc);

/* ---- cm_ids.c, cm_events.c, connections.c ---- */

enum fake_cm_state {
	FAKE_IDLE,
	FAKE_LISTENING,
	FAKE_ADDR,
	FAKE_ROUTE,
	FAKE_REQUESTED, /* by a client; not answered yet */
	FAKE_CONNECTED,
	FAKE_PEER_LEFT, /* the peer has disconnected, the program has not */
	FAKE_CLOSED,
};

struct fake_event {
	struct fake_object object;
	STAILQ_ENTRY(fake_event) next;
	struct fake_id *id;     /* the id that waits for its acknowledgement */
	struct fake_peer *peer; /* CONNECT_REQUEST: the client */
	bool got;
	uint8_t private_data[FAKE_PRIVATE_DATA];
	struct rdma_cm_event pub;
};

struct fake_channel {
	struct fake_object object;
	LIST_ENTRY(fake_channel) next;
	STAILQ_HEAD(fake_event_queue, fake_event) queue;
	struct rdma_event_channel pub;
};

struct fake_id {
	struct fake_object object;
	LIST_ENTRY(fake_id) next;
	enum fake_cm_state state;
	bool sync;
	bool one_family;   /* RDMA_OPTION_ID_AFONLY */
	bool told_gone;    /* DISCONNECTED is in the queue */
	bool gone_late;    /* ... is not yet, but will be, config.late_s into a wait */
	bool device_gone;  /* DEVICE_REMOVAL is in the queue */
	bool disconnected; /* by the program */
	bool taken_back;   /* by the peer: REJECTED is in the queue */
	bool unmoved;      /* rdma_migrate_id has failed: its client hears that from the kernel */
	bool given_up;     /* a thread has put its QP into its error state: */
	pthread_t its_thread;
	unsigned int unacked;
	bool by_hand;           /* stands for a QP that is connected without the CM, */
	bool listens_by_tcp;    /* or for a TCP socket */
	struct fake_line *line; /* of a QP that is connected without the CM: bare.c */
	struct fake_channel *channel;
	struct fake_peer *peer;
	struct rdma_cm_id pub;
};

bool fake_is_event_channel(int fd);
struct fake_id *fake_new_id(struct fake_channel *channel, void *context, bool sync);
void fake_end_id(struct fake_id *id, const char *call);
void fake_give_device(struct fake_id *id);
void fake_tell_gone(struct fake_id *id); /* the connection has ended */
void fake_give_up(struct fake_id *id);   /* the program has put its QP into its error state */
bool fake_any_other(const struct fake_id *one); /* is connected, or about to be */
void fake_stray_events(void);                   /* to all ids */

/* Sends an event to the id's channel. */
void fake_send_event(struct fake_id *id, enum rdma_cm_event_type type, int status,
		     const uint8_t *private_data, size_t length);
void fake_queue_event(struct fake_event *event);
void fake_move_events(struct fake_id *id, struct fake_channel *from, struct fake_channel *to);
void fake_drop_events(struct fake_id *id);
/* Waits until other threads have acknowledged the id's events; reports it if they do not. */
void fake_await_acks(struct fake_id *id, const char *call);
void fake_ack(struct fake_event *event, const char *call);
int fake_wait_if_sync(struct fake_id *id);

/* ---- endpoints.c: to be called without the lock ---- */

/*
 * Makes the QP that the listener's attributes describe for a client. Returns 0 or an errno value.
 */
int fake_equip_request(struct rdma_cm_id *listener, struct rdma_cm_id *id);
void fake_strip_endpoint(struct rdma_cm_id *id); /* when its QP has been destroyed */

/* ---- verbs.c, cqs.c, qps.c ---- */

struct fake_pd {
	struct fake_object object;
	struct ibv_pd pub;
};

struct fake_mr {
	struct fake_object object;
	LIST_ENTRY(fake_mr) next;
	struct fake_pd *pd;
	int access;
	struct ibv_mr pub;
};

struct fake_comp_channel {
	struct fake_object object;
	LIST_ENTRY(fake_comp_channel) next;
	struct fake_cq *events[FAKE_MAX_WR]; /* a ring */
	unsigned int first, n;
	struct ibv_comp_channel pub;
};

/* Whether a completion channel is among the descriptors. */
bool fake_any_comp_channel(const struct pollfd *fds, nfds_t n);

struct fake_cq {
	struct fake_object object;
	LIST_ENTRY(fake_cq) next;
	struct fake_comp_channel *channel;
	struct ibv_wc *ring, *held; /* pub.cqe entries each */
	unsigned int first, n, n_held, patience;
	unsigned int work_requests; /* of all QPs that complete to this CQ */
	bool armed;
	unsigned int events_due; /* with config.slow_events */
	unsigned int unacked, unacked_async;
	struct ibv_cq pub;
};

struct fake_wr {
	uint64_t wr_id;
	enum ibv_wc_opcode opcode;
	uint64_t remote_address; /* of a WRITE or READ */
	uint32_t rkey;
	uint64_t compare_add, swap; /* of an atomic operation */
	bool empty;                 /* a WRITE or READ of no bytes */
	bool has_immediate;
	uint32_t immediate; /* the number that comes with a WRITE */
	bool silent;        /* not signaled: it has no completion, unless it fails */
	struct ibv_sge sge[FAKE_MAX_SGE];
	uint32_t n_sge, length;
	uint64_t sum;       /* of the data that is sent; 0: inline, or none is */
	struct fake_mr *mr; /* NULL: inline */
	struct fake_fault fault;
};

struct fake_queue {
	struct fake_wr *wr; /* a ring of `size`, one more than `max` */
	unsigned int first, n, max, size;
};

void fake_size_queue(struct fake_queue *queue, unsigned int max);

struct fake_srq {
	struct fake_object object;
	LIST_ENTRY(fake_srq) next;
	struct fake_pd *pd;
	struct fake_queue receives;
	unsigned int limit;  /* an event when fewer are left; 0: not armed */
	unsigned int unseen; /* posted, less those whose completions the program has handled */
	unsigned int unacked;
	struct ibv_srq pub;
};

struct fake_qp {
	struct fake_object object;
	LIST_ENTRY(fake_qp) next;
	struct fake_pd *pd;
	struct fake_srq *srq; /* the SRQ with its receives; NULL: they are its own */
	struct fake_cq *send_cq, *recv_cq;
	struct fake_id *id;
	uint32_t inline_wanted, max_inline;
	unsigned int most_receives;        /* the number that may complete to its CQ */
	uint32_t send_sge, recv_sge;       /* pieces of a work request, at most */
	unsigned int rnr_timer;            /* its code */
	unsigned int empty;                /* requests of no bytes that are under way */
	unsigned int unacked;              /* asynchronous events */
	unsigned int in_cm_calls;          /* of rdma_get_cm_event, which modify it just now */
	struct fake_queue sends, receives; /* not completed yet */
	bool all_signaled;                 /* sq_sig_all */
	uint64_t dead_ns;    /* the first look at a send that a dead host does not acknowledge */
	unsigned int late;   /* sends that the peer has, and that are to be completed */
	unsigned int polled; /* receives of an SRQ: found by the last poll, perhaps not handled */
	struct ibv_qp pub;
};

struct ibv_context *fake_get_device(unsigned int number);

struct fake_mr *fake_find_mr(uint32_t lkey);        /* NULL: there is none */
struct fake_mr *fake_find_remote_mr(uint32_t rkey); /* NULL also if a peer may not access it */

int fake_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc);
int fake_req_notify_cq(struct ibv_cq *cq, int solicited_only);
int fake_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int fake_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int fake_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
/* Puts a receive into the queue. Returns 0 or an errno value. */
/* Why the call refuses a work request, the last one of its chain or not: an errno value, or 0. */
int fake_refusal_of(const struct fake_fault *fault, bool is_last);
int fake_take_recv(struct fake_queue *queue, const struct fake_pd *pd,
		   const struct ibv_recv_wr *recv_wr, const struct fake_fault *fault,
		   uint32_t most_pieces, const char *call);
struct fake_queue *fake_receives_of(struct fake_qp *qp);
unsigned int fake_count_posted(const struct fake_queue *queue, const struct fake_mr *mr);
unsigned int fake_posted_to_srqs(const struct fake_mr *mr);
void fake_receive_taken(struct fake_srq *srq); /* one of its QPs has taken a receive */
void fake_retry_messages_of(const struct fake_srq *srq);
void fake_note_seen(const struct ibv_wc *wc);     /* the program has polled it, */
void fake_note_handled(const struct fake_cq *cq); /* and handled what it had polled */
void fake_complete(struct fake_qp *qp, struct fake_cq *cq, const struct ibv_wc *wc);
void fake_forget_completions(struct fake_cq *cq, uint32_t qp_num);
void fake_release_completions(void);            /* those held back, of CQs with a channel */
void fake_make_events(void);                    /* those that are due, with config.slow_events */
struct fake_qp *fake_qp_of(struct fake_id *id); /* NULL: it has none */
void fake_note_talk(uint32_t qp_num);           /* the program knows that it is connected */
unsigned int fake_posted(const struct fake_mr *mr); /* to QPs that work */
/* Completes the oldest work request of one of its queues. */
void fake_complete_wr(struct fake_qp *qp, struct fake_queue *queue, enum ibv_wc_status status,
		      uint32_t length);
void fake_flush(struct fake_qp *qp); /* puts it into its error state */
void fake_device_leaves(struct fake_id *id);
void fake_complete_send(struct fake_qp *qp, enum ibv_wc_status status);
void fake_complete_late_sends(const struct fake_cq *cq);
void fake_give_up_dead_hosts(const struct fake_cq *cq); /* a send fails after 16 s; NULL: of any */
/* A message from the peer arrives. Returns false if no receive is posted for it yet. */
bool fake_receive(struct fake_qp *qp, const uint8_t *data, uint32_t length);
/*
 * The same for immediate data, which come with a WRITE of that length: they take a receive, but do
 * not change its memory.
 */
bool fake_receive_immediate(struct fake_qp *qp, uint32_t immediate, uint32_t length);

/* ---- wire.c: messages on their way; peers.c: the other ends of connections ---- */

struct fake_peer {
	LIST_ENTRY(fake_peer) all;
	struct fake_id *id; /* the program's end */
	const struct fake_wire *wire;
	bool is_client;
	bool accepted; /* by the program */
	bool left;
	bool done;
	bool stays; /* and says nothing */
	uint64_t count, sent, received, credits, silent_after;
	uint32_t size, buffers;
	/*
	 * Of a stranger: the credits that have come, the oldest first; and how many receives it has
	 * not posted again yet.
	 */
	uint64_t untaken[FAKE_CREDIT_RECVS];
	unsigned int n_untaken, not_posted;
	unsigned int looks; /* polls of the program that found nothing */
	uint64_t returned;  /* credits that a server has returned */
	/* One-sided: the peer's own memory, and the address of the program's. */
	uint8_t *memory;
	bool knows_buffer, torn;
	uint64_t turns;   /* of a publisher or a talker: how many times it has acted */
	uint64_t number;  /* of the newest record, or of the line that the program has read last */
	bool told, heard; /* each side has sent its count */
	uint64_t address;
	uint32_t length, rkey;
	/* RDMA READs, as in the client's own rdma_conn_param. */
	uint8_t responder_resources;
	uint8_t initiator_depth;
};

/* What a peer sends and how it reacts, once it is connected to the program. */
struct fake_wire {
	void (*begin)(struct fake_peer *peer); /* connected */
	void (*hear)(struct fake_peer *peer, const uint8_t *data, uint32_t length);
	/*
	 * The same of a program that was told to stop: the peer does not answer, but what it is
	 * told must be true. NULL: nothing is checked
	 */
	void (*overhear)(struct fake_peer *peer, const uint8_t *data, uint32_t length);
	/* One-sided, of a client: it knows the program's buffer. NULL: nothing */
	void (*start)(struct fake_peer *peer);
	/* One-sided: the program has told its count. What it must be also if it was told to stop. */
	void (*hear_count)(struct fake_peer *peer, uint64_t count);
	void (*check_count)(const struct fake_peer *peer, uint64_t count);
	/*
	 * One-sided: carries out the program's request at `memory` of the peer; `data` is that of a
	 * WRITE. NULL: as in one_sided.c
	 */
	void (*carry_out)(struct fake_qp *qp, const struct fake_wr *wr, uint8_t *memory,
			  const uint8_t *data);
};

unsigned int fake_clients_arrive(struct fake_id *listener); /* returns how many */
void fake_request_ends(struct fake_peer *peer);             /* its id has ended */
void fake_server_answers(struct fake_id *id, const struct rdma_conn_param *param);
void fake_peer_leaves(struct fake_peer *peer);
void fake_count_done(void);
void fake_return_rest(void);    /* the program has polled and found nothing */
void fake_strangers_move(void); /* the program has polled and found nothing */
void fake_say(struct fake_peer *peer, uint64_t message);
void fake_overtake(struct fake_peer *peer, struct fake_qp *qp); /* a send has failed */
void fake_take_credits(struct fake_peer *peer, uint64_t credits);
void fake_tell(struct fake_peer *peer, const uint8_t *data,
	       uint32_t length); /* unless it is silent */
bool fake_check_length(uint32_t length, uint32_t wanted);
void fake_client_is_done(struct fake_peer *peer);
bool fake_has_quit(const struct fake_peer *peer);
void fake_may_stop_program(const struct fake_peer *peer);
void fake_server_may_leave(struct fake_peer *peer);

void fake_put_event(struct fake_event *event);
void fake_put_send(struct fake_qp *qp, const struct fake_wr *wr, const uint8_t *data);
void fake_put_ack(struct fake_qp *qp); /* of the oldest send */
bool fake_is_dead(const struct fake_peer *peer);
void fake_put_message(struct fake_peer *peer, const uint8_t *data, uint32_t length);
void fake_put_immediate(struct fake_peer *peer, uint32_t immediate);
void fake_put_place(struct fake_peer *peer); /* fake_write_now, with known_us */
void fake_put_begin(struct fake_peer *peer);
void fake_put_leave(struct fake_peer *peer);
void fake_leave(struct fake_peer *peer);      /* at once */
void fake_retry_messages(struct fake_qp *qp); /* a receive has been posted */
bool fake_let_arrive(void); /* with known_us: the next message arrives; false: there is none */
void fake_pump(void);       /* all of it arrives, or the thread is told to deliver it */
void fake_start_wire(void);
void fake_stop_wire(void);

struct fake_peer *fake_new_server(void);
struct fake_peer *fake_first_peer(void); /* of the list of all, the newest first; or NULL */

/* ---- connect_data.c: the private data of a connection ---- */

/* Writes what a client sends when it connects; returns its length. */
size_t fake_connect_data(const struct fake_peer *peer, uint8_t *data);
/* Checks what the program sends when it connects or accepts, and when it refuses a client. */
void fake_hear_connect_data(struct fake_peer *peer, const struct rdma_conn_param *param);
void fake_hear_refusal(const uint8_t *data, size_t length);
/*
 * Makes an event with a server's answer to the program's request. Returns false if the server
 * refuses.
 */
bool fake_answer(struct fake_id *id);

/* ---- bare.c, sockets.c, exchange.c: connections without the CM ---- */

/* A client has connected to a listening socket. */
void fake_client_connects(struct fake_peer *peer);
void fake_hang_up(struct fake_line *line);
/* ibv_modify_qp of a QP from ibv_create_qp. Returns 0 or an errno value. */
int fake_modify_by_hand(struct fake_qp *qp, const struct ibv_qp_attr *attr, int mask);
void fake_check_last_send(const struct fake_qp *qp); /* the program puts it into its error state */
void fake_may_close_tcp(const struct fake_peer *peer); /* it has received one more message */
/* The connection whose peer has sent that QP number; NULL: there is none. */
struct fake_line *fake_find_line(uint32_t qp_num);
/* Compares what the program sends over TCP about its QP with the QP itself, when both are known. */
void fake_check_told(const struct fake_line *line);
void fake_create_qp_for(struct fake_id *id, struct fake_pd *pd, const struct ibv_qp_init_attr *attr,
			uint32_t inline_wanted);
void fake_end_qp(struct fake_id *id, const char *call);
/* ---- one_sided.c ---- */

extern const struct fake_wire fake_one_sided_wire;

/* The peer's part of the exchange before and after the transfer, of each one-sided wire. */
#define FAKE_EXCHANGE \
	.begin = fake_begin_exchange, .hear = fake_hear_exchange, .overhear = fake_overhear_exchange
void fake_begin_exchange(struct fake_peer *peer);
void fake_hear_exchange(struct fake_peer *peer, const uint8_t *data, uint32_t length);
void fake_overhear_exchange(struct fake_peer *peer, const uint8_t *data, uint32_t length);
void fake_tell_count(struct fake_peer *peer, uint64_t count);
/* A client has been told the program's last word: the memory must be closed. */
void fake_check_closed(const struct fake_peer *peer);
/* The peer says no more, as config wants it; its device may raise an event then. */
bool fake_is_silent(const struct fake_peer *peer);
/* The peer knows the program's memory, and is connected; the program was not told to stop. */
bool fake_may_act(const struct fake_peer *peer);

/*
 * The address of the program's memory that it has told its peer; NULL: access is not permitted, and
 * reported.
 */
uint8_t *fake_find_in_program(const struct fake_peer *peer, uint32_t length, int access);

/* The program has polled and found nothing: what was written in part is completed. */
void fake_finish_torn(void);
/* The peer's WRITE of a message arrives, or half of it. */
void fake_write_now(struct fake_peer *peer);
/* The peer's WRITE with immediate data arrives; the receive comes next. */
void fake_place_message(struct fake_peer *peer);
/* To be called when the request is posted: checks what is known then, and reports it. */
bool fake_check_request(const struct fake_qp *qp, const struct fake_wr *wr);
/* Reports an error unless this is message number `message` of a stream whose program has -v. */
void fake_check_pattern(const uint8_t *data, uint32_t size, uint64_t message);
/* At the peer's device. Returns false if the request was refused; `data` is that of a WRITE. */
bool fake_carry_out(struct fake_qp *qp, const struct fake_wr *wr, const uint8_t *data);
/* Reports data that has changed while the device may still send it, or send it once more. */
void fake_check_unchanged(const struct fake_wr *wr);
void fake_scatter(const struct fake_wr *wr, const uint8_t *data, uint32_t length);

/* ---- records.c: pubsub-rdma-1 and -2 ---- */

extern const struct fake_wire fake_record_wire;

/* The program sleeps until its next poll: its publisher writes a part of a record, or the rest. */
void fake_publishers_move(void);

/* ---- talkers.c: talk-rdma-0 ---- */

extern const struct fake_wire fake_talk_wire;

void fake_talkers_move(void); /* after an empty poll of the program */
/* The program closes memory that its peer could write to. */
void fake_slot_closes(const struct fake_mr *mr);

/* ---- async.c ---- */

void fake_open_async(void);
int fake_async_fd(unsigned int device);
/* config's event, if there is one, of its QP, CQ, port or device */
void fake_raise(struct fake_id *id);
void fake_raise_of(struct ibv_context *context, enum ibv_event_type type, void *element);
void fake_drop_async(const void *element);
void fake_judge_async(void); /* to be called at the end */

/* ---- strangers.c ---- */

void fake_stranger_hears(struct fake_peer *peer, uint64_t credits);
void fake_stranger_moves(struct fake_peer *peer); /* after it has waited long enough */

#endif
