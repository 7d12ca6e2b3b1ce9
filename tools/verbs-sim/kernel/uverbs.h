/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Commands of uverbs (rdma/ib_user_verbs.h), with the additions of soft-RoCE and soft-iWARP.
 *
 * Contract: a command gets its request, which is as long as its structure, and an answer of zeroes
 * to fill in. It returns 0, or the errno value with which it fails, and then the answer is not used.
 * A new command is such a function, and a row of the table in uverbs.c.
 */
#ifndef VERBS_SIM_KERNEL_UVERBS_H
#define VERBS_SIM_KERNEL_UVERBS_H
#include <netinet/in.h> /* must come before linux/in.h, which rdma_user_rxe.h includes */
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_rxe.h>
#include <rdma/siw-abi.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"
#include "verbs-sim/kernel/kernel.h"

/* An open /dev/infiniband/uverbsN. */
struct uverbs {
	struct sim_file file;
	struct sim_device *device;
	struct sim_context *context; /* NULL: before GET_CONTEXT */
};

/* The device, on the host of the program that calls. */
static inline struct sim_host uverbs_host(const struct uverbs *uverbs)
{
	return (struct sim_host){ sim_me->program, uverbs->device };
}

/*
 * Returns the object with this handle in the context that the command was written to; NULL: there
 * is none, and the command fails with ENOENT. Handles of other contexts name nothing here.
 */
void *uverbs_find(const struct uverbs *uverbs, enum sim_kind kind, uint32_t handle);

typedef int uverbs_command(struct uverbs *uverbs, const void *in, void *out);

/* ---- uverbs_device.c ---- */
uverbs_command uverbs_get_context, uverbs_query_device, uverbs_query_device_ex, uverbs_query_port;

/* ---- uverbs_memory.c ---- */
uverbs_command uverbs_alloc_pd, uverbs_dealloc_pd, uverbs_reg_mr, uverbs_dereg_mr;
uverbs_command uverbs_alloc_mw, uverbs_dealloc_mw;
uverbs_command uverbs_create_ah, uverbs_destroy_ah;

/* ---- uverbs_cq.c ---- */
uverbs_command uverbs_create_comp_channel, uverbs_create_cq, uverbs_create_cq_ex, uverbs_destroy_cq;
uverbs_command uverbs_req_notify_cq, uverbs_resize_cq;

/* ---- uverbs_qp.c ---- */
uverbs_command uverbs_create_qp, uverbs_create_qp_ex, uverbs_modify_qp, uverbs_query_qp;
uverbs_command uverbs_destroy_qp;

/* ---- uverbs_post.c ---- */
uverbs_command uverbs_post_send;

/* ---- uverbs_ioctl.c ---- */

/* Carries out a request of ioctl(2). Returns 0 or an errno value; EPROTONOSUPPORT: not simulated. */
struct ib_uverbs_ioctl_hdr;
int uverbs_ioctl(const struct uverbs *uverbs, const struct ib_uverbs_ioctl_hdr *request);

/* ---- multicast.c ---- */
uverbs_command uverbs_attach_mcast, uverbs_detach_mcast;

/* ---- uverbs_srq.c ---- */
uverbs_command uverbs_create_srq, uverbs_modify_srq, uverbs_query_srq, uverbs_destroy_srq;

/* Answers: the kernel's part for any device, then the driver's part. */
union uverbs_cq_driver {
	struct rxe_create_cq_resp rxe;
	struct siw_uresp_create_cq siw;
};

union uverbs_qp_driver {
	struct rxe_create_qp_resp rxe;
	struct siw_uresp_create_qp siw;
};

struct uverbs_cq_answer {
	struct ib_uverbs_create_cq_resp core;
	union uverbs_cq_driver driver;
};

struct uverbs_cq_ex_answer {
	struct ib_uverbs_ex_create_cq_resp core;
	union uverbs_cq_driver driver;
};

struct uverbs_resize_answer {
	struct ib_uverbs_resize_cq_resp core;
	struct rxe_resize_cq_resp rxe;
};

struct uverbs_qp_answer {
	struct ib_uverbs_create_qp_resp core;
	union uverbs_qp_driver driver;
};

struct uverbs_qp_ex_answer {
	struct ib_uverbs_ex_create_qp_resp core;
	union uverbs_qp_driver driver;
};

struct uverbs_srq_answer {
	struct ib_uverbs_create_srq_resp core;
	union {
		struct rxe_create_srq_resp rxe;
		struct siw_uresp_create_srq siw;
	} driver;
};

struct uverbs_mr_answer {
	struct ib_uverbs_reg_mr_resp core;
	struct siw_uresp_reg_mr siw;
};

struct uverbs_ah_answer {
	struct ib_uverbs_create_ah_resp core;
	struct rxe_create_ah_resp rxe;
};

/* Returns the offset at which the library maps a ring: rxe_mmap.c of Linux invents one, too. */
static inline struct mminfo uverbs_place_of(const struct sim_ring *ring)
{
	return (struct mminfo){ .offset = sim_offset_of(ring), .size = sim_bytes_of(ring) };
}

/* ---- events.c: reading from a channel of completions, or of asynchronous events ---- */

/* Give the program a descriptor for a channel. */
void kernel_open_comp_channel(const struct uverbs *uverbs, struct sim_channel *channel);
void kernel_open_async_channel(struct sim_channel *channel);

/* Returns the completion channel of a descriptor in this context; NULL: it has none there. */
struct sim_channel *kernel_comp_channel_of(const struct uverbs *uverbs, int fd);
#endif
