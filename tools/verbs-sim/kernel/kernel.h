/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The simulated kernel below the real libibverbs, librdmacm, librxe and libsiw of the machine: what
 * they ask it, and what it answers.
 *
 * Contract: kernel/ only translates. Whether something is allowed, and with which error it is
 * refused, is said in device/ or cm/. A command that is not here ends in EOPNOTSUPP, as with an older
 * kernel, and is named at the end of the run. These functions are called by the program, in its turn.
 */
#ifndef VERBS_SIM_KERNEL_KERNEL_H
#define VERBS_SIM_KERNEL_KERNEL_H
#include <stdbool.h>
#include <stdint.h>

#include "verbs-sim/device/device.h"

/* ---- uverbs.c: /dev/infiniband/uverbsN ---- */

/* Returns a descriptor, or -1 and errno. */
int uverbs_open(struct sim_device *device);

/* ---- ucma.c: /dev/infiniband/rdma_cm ---- */

int ucma_open(void);

/* Return true if this is the name of a command. */
bool uverbs_has_command(const char *name);
bool ucma_has_command(const char *name);

/* ---- uverbs_memory.c ---- */

/* The object of this program that has this number, which is its handle; NULL: there is none. */
void *kernel_find(enum sim_kind kind, uint32_t handle);

/*
 * Returns true if librdmacm asks for an object of its own, which the program need not destroy,
 * inside a call such as rdma_resolve_addr or rconnect.
 */
bool kernel_is_for_librdmacm(void);

/* ---- locks.c: which spin lock belongs to which queue ---- */

/*
 * The library is about to initialize the spin locks of this CQ, QP or SRQ, which a command has just
 * created for it: so the next pthread_spin_init of this thread says where they are.
 */
void kernel_await_locks(struct sim_object *owner);

/* Forgets the locks of a queue, which no longer exists or has new ones. */
void kernel_forget_locks(struct sim_object *owner);

/*
 * Posts what the library has put into the queue of sends of a QP: uverbs_post.c. Returns 0, or the errno
 * value with which the device refuses one, and stops there.
 */
int kernel_post_sends(struct sim_qp *qp);
#endif
