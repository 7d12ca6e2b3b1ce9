/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Transfers: what a device does with the requests that are posted, where the peer's device and, on
 * iWARP, the connection have a part in it.
 *
 * Contract: as for tools/verbs-sim/device/device.h. The device and the connection manager do not call
 * this; sim_carry_out is what sim_do_task (core/world.h) leads to.
 */
#ifndef VERBS_SIM_TRANSFER_TRANSFER_H
#define VERBS_SIM_TRANSFER_TRANSFER_H

#include "verbs-sim/cm/cm.h"

#define SIM_BEHIND_NS 2000 /* between acknowledgements that come together, at most */

/* ---- Tasks of a QP: transfer.c ---- */

/*
 * The oldest request that is under way reaches the peer, at once: what is to be late is scheduled
 * later (qp->execute). When a QP fails, sim_fail_qp executes what TCP has taken, one after the other,
 * and takes a request that is still there for one that nobody takes.
 */
void sim_execute(struct sim_qp *qp);

/* The oldest request completes. */
void sim_acknowledge(struct sim_qp *qp);

/*
 * ---- Messages: messages.c ----
 *
 * A message arrives, or the immediate data of a WRITE: it takes the peer's oldest receive, and has been
 * executed, or is tried again later, or has only begun.
 */
void sim_take_message(struct sim_qp *qp, struct sim_qp *peer, struct sim_request *request);

/*
 * ---- The outcome of a request: outcomes.c ----
 *
 * The first: it has been executed, with its status; after an error the QP sends no more. The second: the
 * peer's QP fails, and the sender does not hear of it. The third: the peer found something wrong; RoCE
 * tells both sides, iWARP ends the connection. The fourth does so for what sim_access says.
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
 * The first says whether the device has this operation for this type of QP. The second returns false if
 * this is none that ends so. Its data have been taken out of the program's memory.
 */
bool sim_knows(const struct sim_qp *qp, enum ibv_wr_opcode opcode);
bool sim_execute_alone(struct sim_qp *qp, const struct sim_request *request,
		       enum ibv_wc_status *status);

/* ---- How long RoCE tries again: retries.c ---- */

/* A min_rnr_timer, and the timeout of a QP. */
uint64_t sim_rnr_ns(uint8_t code);
uint64_t sim_timeout_ns(const struct sim_qp *qp);

/* The time when the QP gives up a request that nobody has answered; SIM_FOREVER: never. */
uint64_t sim_end_of_retries(const struct sim_qp *qp, struct sim_request *request);

/*
 * Returns true if a request that has arrived goes on waiting, because a host has fallen silent
 * before the acknowledgement came. At the end of the retries, sets the status of the request.
 */
bool sim_awaits_lost_answer(struct sim_qp *qp, struct sim_request *request);

/* ---- Access to the peer's memory: remote.c ---- */

/*
 * Accesses the peer's memory, or moves a piece of the data: then it returns EAGAIN until all are
 * moved, and programs run in between. Returns 0, EACCES, EFAULT, or EOPNOTSUPP if the peer's QP does
 * not allow the operation at all. What it brings is in request->data.
 */
int sim_access(struct sim_qp *peer, struct sim_request *request);

/*
 * A READ or an atomic operation reaches a peer that answers it later, by sim_access; an atomic one is
 * done at once. Returns 0, or as sim_access, or EDQUOT: the peer has as many to answer as it takes.
 */
int sim_ask(const struct sim_qp *qp, struct sim_qp *peer, struct sim_request *request);

/*
 * A region or window of this program is about to end. Moves the rest of each message whose last byte is
 * in the program's memory already: devices have checked the keys of all its packets by then, and a
 * program that polls that byte may deregister the memory at once.
 */
void sim_finish_access(const struct sim_program *program);

/* ---- Datagrams: datagram.c ---- */

/* A UD QP sends, with the data of the request. */
void sim_send_datagram(struct sim_qp *qp, const struct sim_request *request);

/* A QP gets what is sent to a group, or no more. Each returns 0, or EINVAL, or ENOMEM. */
int sim_attach(struct sim_qp *qp, const union ibv_gid *group);
int sim_detach(struct sim_qp *qp, const union ibv_gid *group);

/* ---- What is done by kind: tasks.c ---- */

/* Does a task that is due, or that cannot wait. */
void sim_carry_out(struct sim_task *task);

/* Destroys all that a dead program has left, counts it in program->left, and tells its peers. */
void sim_destroy_objects(struct sim_program *program);
#endif
