/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Transfers: carrying out posted requests, in which the peer's device and, on iWARP, the connection
 * take part.
 *
 * Contract: as for tools/verbs-sim/device/device.h. The device and the connection manager do not call
 * this; sim_carry_out is what sim_do_task (core/world.h) leads to.
 */
#ifndef VERBS_SIM_TRANSFER_TRANSFER_H
#define VERBS_SIM_TRANSFER_TRANSFER_H

#include "verbs-sim/cm/cm.h"

#define SIM_BEHIND_NS 2000 /* the longest time between acknowledgements that come together */

/* ---- Tasks of a QP: transfer.c ---- */

/*
 * Makes the oldest request that is under way reach the peer, at once: a delay is a later schedule
 * (qp->execute). When a QP fails, sim_fail_qp executes the requests that TCP has taken, one after
 * the other; one that remains is not taken by the peer.
 */
void sim_execute(struct sim_qp *qp);

/* Completes the oldest request. */
void sim_acknowledge(struct sim_qp *qp);

/*
 * ---- Messages: messages.c ----
 *
 * Delivers a message, or the immediate data of a WRITE: it takes the peer's oldest receive, and is
 * executed, or is tried again later, or has only begun.
 */
void sim_take_message(struct sim_qp *qp, struct sim_qp *peer, struct sim_request *request);

/*
 * ---- The outcome of a request: outcomes.c ----
 *
 * The first ends an executed request, with its status; after an error the QP sends no more. The second
 * fails the peer's QP, without telling the sender. The third is for an error that the peer found; RoCE
 * tells both sides, iWARP ends the connection. The fourth does the same for an error of sim_access.
 */
void sim_finish(struct sim_qp *qp, struct sim_request *request, enum ibv_wc_status status);
void sim_fail_peer(struct sim_qp *qp, struct sim_qp *peer, struct sim_request *request);
void sim_refuse_request(struct sim_qp *qp, struct sim_qp *peer, struct sim_request *request,
			enum ibv_wc_status status);
void sim_refuse_access(struct sim_qp *qp, struct sim_qp *peer, struct sim_request *request,
		       int error);

/*
 * ---- Requests that end without a peer: alone.c ----
 *
 * The first returns true if the device has this operation for this type of QP. The second executes a
 * request whose data have been copied from the program's memory; false: the request needs a peer.
 */
bool sim_knows(const struct sim_qp *qp, enum ibv_wr_opcode opcode);
bool sim_execute_alone(struct sim_qp *qp, const struct sim_request *request,
		       enum ibv_wc_status *status);

/* ---- Retries of RoCE: retries.c ---- */

/* Return the times, in ns, of a min_rnr_timer, and of a QP's timeout. */
uint64_t sim_rnr_ns(uint8_t code);
uint64_t sim_timeout_ns(const struct sim_qp *qp);

/* Returns when the QP gives up a request that nobody has answered; SIM_FOREVER: never. */
uint64_t sim_end_of_retries(const struct sim_qp *qp, struct sim_request *request);

/* Returns true if that time is over, though an answer could come now: it would be of no later attempt. */
bool sim_has_given_up(const struct sim_qp *qp, struct sim_request *request);

/*
 * Returns true if a request that has arrived goes on waiting, because its acknowledgement is lost. At
 * the end of the retries, sets the status of the request.
 */
bool sim_awaits_lost_answer(struct sim_qp *qp, struct sim_request *request);

/* ---- Access to the peer's memory: remote.c ---- */

/*
 * Accesses the peer's memory, or moves a piece of the data: then it returns EAGAIN until all are
 * moved, and programs run in between. Returns 0; EACCES; EFAULT; EINVAL: an atomic operation between
 * words; or EOPNOTSUPP: the peer's QP does not allow the operation at all. The data that it brings are
 * in request->data.
 */
int sim_access(struct sim_qp *peer, struct sim_request *request);

/*
 * Gives a READ or an atomic operation to a peer that answers it later, by sim_access; an atomic one is
 * executed at once. Returns 0, or as sim_access, or EDQUOT: the peer has as many to answer as it takes.
 */
int sim_ask(const struct sim_qp *qp, struct sim_qp *peer, struct sim_request *request);

/*
 * To be called before a region or window of this program ends. Moves the rest of each message whose
 * last byte is in the program's memory already: devices have checked the keys of all its packets by
 * then, and a program that polls that byte may deregister the memory at once.
 */
void sim_finish_access(const struct sim_program *program);

/* ---- Datagrams: datagram.c ---- */

/* Sends a datagram from a UD QP, with the data of the request. */
void sim_send_datagram(struct sim_qp *qp, const struct sim_request *request);

/* Attach a QP to a multicast group, or detach it. Each returns 0, or EINVAL, or ENOMEM. */
int sim_attach(struct sim_qp *qp, const union ibv_gid *group);
int sim_detach(struct sim_qp *qp, const union ibv_gid *group);

/* ---- Dispatch by kind: tasks.c ---- */

/* Does a task that is due, or that cannot wait. */
void sim_carry_out(struct sim_task *task);

/* Destroys the objects of a dead program, counts them in program->left, and tells its peers. */
void sim_destroy_objects(struct sim_program *program);
#endif
