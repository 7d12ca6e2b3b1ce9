/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-srq-4: a pool of receive buffers for all clients of a device, posted to one shared receive
 * queue (SRQ). The server has one thread, and only this thread calls the functions here.
 */
#ifndef OUR_POOL_H
#define OUR_POOL_H

#include <poll.h>
#include <sys/queue.h>

#include "program/options.h"
#include "program/stage.h"

#define OUR_NO_BUFFER (-1)
#define OUR_SHARE     2 /* buffers that a client has at a time: one arrives, one is sent back */

extern const struct our_option our_pool_options[]; /* --pool, --buffer */

struct our_pool {
	SLIST_ENTRY(our_pool) next;
	struct our_device *device; /* PD, SRQ and buffers, which its clients share */
	const struct our_options *options;
	struct our_admission *admission;
	uint64_t memory;          /* bytes that were reserved for the pool */
	unsigned int users;       /* agents */
	unsigned int doubtful;    /* receives that may be lost: see our_put_pool */
	bool retired;             /* new clients get a new pool, as too many are doubtful */
	bool failed;              /* an asynchronous event has ended it */
	uint32_t posted;          /* receives posted, less those whose completions were found */
	struct ibv_recv_wr *free; /* receives that are not posted: a chain, for one call */
	uint32_t n_free;          /* the length of the chain */
	uint32_t batch;           /* the chain is posted when it has this length */
	uint32_t limit;           /* the chain is also posted when fewer receives are posted */
	bool low;
	uint64_t times_low;
};

/* The state of an agent. */
struct our_pooled {
	struct our_pool *pool;
	int received; /* the buffer with the message to be echoed, or OUR_NO_BUFFER */
	int sending;  /* the buffer whose echo is under way, or OUR_NO_BUFFER */
};

/* The agent: see struct our_stage and struct our_agent_ops. agent.c. */
extern const struct our_program our_pool_server_program;
extern const struct our_agent_ops our_pooled_echoes;
int our_pool_check(struct our_control *agent);

/* Return the values of the options: the number of receives in a pool, and bytes of each. */
uint32_t our_pool_receives(void);
uint32_t our_pool_buffer(void);

/*
 * Finds or makes the pool for a client of the device agent->verbs. Returns 0 and *pool; EBUSY, it
 * can take no more clients; EDQUOT, no memory is left for it; or another errno value; all reported.
 */
int our_get_pool(struct our_control *agent, struct our_pool **pool);

/*
 * Notes that an agent no longer uses the pool. Its QP must be destroyed, and its buffers returned.
 * `broke_off`: the client may have left in the middle of a message; then the QP may have kept a
 * receive that never completes.
 */
void our_put_pool(struct our_pool *pool, bool broke_off);

/* Serves clients in a loop that also looks after the pools: see struct our_stage. loop.c. */
int our_pooling_listener(struct our_control *listener);

/* ---- refill.c ---- */

/* Puts a buffer into the chain; the next our_refill_pool posts its receive. */
void our_put_into_chain(struct our_pool *pool, uint32_t index);

/* Posts the receives of all waiting buffers, in one call. Returns 0 or an errno value, reported. */
int our_refill_pool(struct our_pool *pool);

/* Notes that fewer receives are posted than the limit. */
void our_note_low(struct our_pool *pool);

/* Notes that the device has used a receive. */
void our_take_buffer(struct our_pool *pool);

/*
 * Takes back a buffer, and posts its receive anew, now or together with others. Returns 0
 * or an errno value, reported.
 */
int our_give_buffer_back(struct our_pool *pool, uint32_t index);

/* ---- pool.c ---- */

/*
 * Fills in fds[OUR_MAX_DEVICES] for poll(2): the devices report there that a pool is low. Returns
 * how many there are.
 */
nfds_t our_list_pools(struct pollfd *fds);

/*
 * Takes the devices' asynchronous events: notes what has happened to which pool, and does no more.
 * Returns 0, or an errno value that ends the server, reported.
 */
int our_take_pool_events(void);

/*
 * Refills pools that are low, and retires those that have failed. Call it last in each turn of the
 * loop, whether or not the loop has read an event, because a wait for a connection reads the same
 * events, and the event of an SRQ's limit comes only once.
 *
 * Lowers *until_ns to the time, by our_now_ns, of the loop's next turn, when agents must return
 * buffers that they have held for long, or end with their pool. Returns 0, or an errno value that
 * ends the server, reported.
 */
int our_look_after_pools(uint64_t *until_ns);

#endif
