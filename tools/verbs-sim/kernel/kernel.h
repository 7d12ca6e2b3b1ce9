/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The simulated kernel below the real libibverbs, librdmacm, librxe and libsiw of the machine: it
 * answers their commands.
 *
 * Contract: kernel/ only translates. device/ or cm/ decides whether something is allowed, and with
 * which error it is refused. A command that is not here ends in EOPNOTSUPP, as with an older
 * kernel, and is named at the end of the run. The program calls these functions, in its turn.
 */
#ifndef VERBS_SIM_KERNEL_KERNEL_H
#define VERBS_SIM_KERNEL_KERNEL_H
#include <stdbool.h>
#include <stdint.h>

#include "verbs-sim/device/device.h"

/* ---- uverbs.c: /dev/infiniband/uverbsN ---- */

/* Opens a device. Returns a descriptor, or -1 and errno. */
int uverbs_open(struct sim_device *device);

/* ---- ucma.c: /dev/infiniband/rdma_cm ---- */

int ucma_open(void);

/* Return true if this is the name of a command. */
bool uverbs_has_command(const char *name);
bool ucma_has_command(const char *name);

/* ---- uverbs_memory.c ---- */

/* Returns the object of this program with this number, which is its handle; NULL: there is none. */
void *kernel_find(enum sim_kind kind, uint32_t handle);

/*
 * Returns true if librdmacm asks for an object of its own, which the program need not destroy,
 * inside a call such as rdma_resolve_addr or rconnect.
 */
bool kernel_is_for_librdmacm(void);

/* ---- locks.c: the spin locks of queues ---- */

/*
 * To be called when a command has created this CQ, QP or SRQ: the library is about to initialize
 * its spin locks, so the next calls of pthread_spin_init in this thread give their addresses.
 */
void kernel_await_locks(struct sim_object *owner);

/* Forgets the locks of a queue, which no longer exists or has new ones. */
void kernel_forget_locks(struct sim_object *owner);

/*
 * Posts the requests that the library has put into the send queue of a QP: uverbs_post.c. Returns
 * 0, or the errno value with which the device refuses one, and stops there.
 */
int kernel_post_sends(struct sim_qp *qp);
#endif
