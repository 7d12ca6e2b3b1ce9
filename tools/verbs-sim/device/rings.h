/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Queues that a driver shares with its library: the library puts work requests into them and takes
 * completions out of them without a call, as rdma/rdma_user_rxe.h says for soft-RoCE.
 *
 * Contract: as for device.h. A ring is in the memory of the world, so that the device reaches it
 * whichever program has the turn, and it has pages of its own, which the library maps. But for
 * closing, only a ring that is open is passed.
 */
#ifndef VERBS_SIM_DEVICE_RINGS_H
#define VERBS_SIM_DEVICE_RINGS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ibv_wc;
struct rxe_queue_buf;
struct sim_qp;
struct sim_recv;
struct sim_request;

struct sim_ring {
	struct rxe_queue_buf *shared; /* shared with librxe; NULL: not a ring of soft-RoCE */
	void *memory;                 /* the block that has the ring */
	/*
	 * The first entry that the device has not read, or written; for soft-RoCE's completions,
	 * the first that it has not seen taken out.
	 */
	uint32_t seen;
	uint32_t held; /* slots out of use, for good: see sim_hold_ring */
	/* Members for soft-iWARP: */
	void *entries; /* shared with libsiw; NULL: not a ring of soft-iWARP */
	uint32_t slots, done;
	size_t bytes; /* in an entry */
};

/* Makes a ring for `entries` entries, each of them `bytes` long or longer. Returns 0 or ENOMEM. */
int sim_create_ring(struct sim_ring *ring, uint32_t entries, size_t bytes);
void sim_destroy_ring(struct sim_ring *ring);

/*
 * Takes the slots of a ring of soft-RoCE beyond `entries` out of use: the consumer's index, by
 * which the library knows whether the ring is full, stays behind by as many.
 */
void sim_hold_ring(struct sim_ring *ring, uint32_t entries);

/* For the library's mmap(2): return the ring's place in the file of the world, and its length in bytes. */
uint64_t sim_offset_of(const struct sim_ring *ring);
uint32_t sim_bytes_of(const struct sim_ring *ring);

/* Return the number of slots of a ring, and of entries in a ring of completions. */
uint32_t sim_slots_of(const struct sim_ring *ring);
uint32_t sim_filled(const struct sim_ring *ring);

/* ---- The same for soft-iWARP: rings_siw.c. rings.c calls all but the first. ---- */

enum sim_siw_entry {
	SIM_SIW_COMPLETION,
	SIM_SIW_SEND,
	SIM_SIW_RECV
};
int sim_create_siw_ring(struct sim_ring *ring, enum sim_siw_entry kind, uint32_t entries);
uint32_t sim_siw_filled(const struct sim_ring *ring);
void sim_siw_put_completion(struct sim_ring *ring, const struct ibv_wc *wc);
bool sim_siw_read_taken(struct sim_ring *ring, struct ibv_wc *wc);
void sim_siw_drop_completions(struct sim_ring *ring, uint32_t qp_num);
void sim_siw_release(struct sim_ring *ring);
struct sim_request *sim_siw_read_send(struct sim_ring *ring);
struct sim_recv *sim_siw_read_recv(struct sim_ring *ring);

/* Returns how the library has armed a CQ, which it does without a call. */
bool sim_siw_is_armed(const struct sim_ring *ring, bool *solicited_only);
void sim_siw_disarm(struct sim_ring *ring);

/* ---- */

/* To be called when the device has carried out the oldest entry: the library may use its place again. */
void sim_release_entry(struct sim_ring *ring);

/*
 * Moves the entries of a ring of soft-RoCE into a new one with room for `entries`, which the
 * library maps in the place of the old one. Returns 0, or ENOMEM.
 */
int sim_resize_ring(struct sim_ring *ring, uint32_t entries);

/* Empties a ring. */
void sim_reset_ring(struct sim_ring *ring);

/* Return the bytes of an entry with room for this. */
size_t sim_bytes_of_send(uint32_t max_sge, uint32_t max_inline);
size_t sim_bytes_of_recv(uint32_t max_sge);
size_t sim_bytes_of_completion(void);

/* Puts a completion in. The caller has seen that there is room. */
void sim_put_completion(struct sim_ring *ring, const struct ibv_wc *wc);

/* Takes out the completions of a QP. Returns how many of them were of receives. */
uint32_t sim_drop_completions(struct sim_ring *ring, uint32_t qp_num);

/*
 * Reads the next completion that the library has taken out since sim_watch_taken. Returns false if there
 * is none.
 */
void sim_watch_taken(struct sim_ring *ring);
bool sim_read_taken(struct sim_ring *ring, struct ibv_wc *wc);

/* Takes the next request that the library has put into the ring of a QP, for the caller; or NULL. */
struct sim_request *sim_read_send(struct sim_qp *qp);

/* Does the same for receives. */
struct sim_recv *sim_read_recv(struct sim_ring *ring);
#endif
