/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the questions of probe.c about refusals of a driver: memory that is not mapped, and steps
 * of a QP with the wrong attributes. See edges.c, limits.c and terms.c, too.
 */
#include <sys/mman.h>

#include "probe.h"

/* ---- Memory ---- */

static void tell_region(const struct end *end, const char *what, void *address, size_t length,
			int access)
{
	struct ibv_mr *mr;

	errno = 0;
	mr = ibv_reg_mr(end->pd, address, length, access);
	told("%s, access %d: %s", what, access, mr ? "registered" : strerror(errno));
	if (mr)
		ibv_dereg_mr(mr);
}

/* Which regions of three pages can be registered: one to write, one to read, one not mapped? */
void ask_regions(struct ends *e, int unused)
{
	static const int accesses[] = {
		IBV_ACCESS_REMOTE_READ,
		IBV_ACCESS_REMOTE_WRITE,
		IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE,
		IBV_ACCESS_REMOTE_ATOMIC,
		IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_LOCAL_WRITE,
		IBV_ACCESS_ON_DEMAND,
	};
	size_t page = (size_t)getpagesize();
	char *pages =
		mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)unused;
	must(pages != MAP_FAILED, "mmap");
	must(!mprotect(pages + page, page, PROT_READ) && !munmap(pages + 2 * page, page), "munmap");
	for (int access = 0; access <= IBV_ACCESS_LOCAL_WRITE; access += IBV_ACCESS_LOCAL_WRITE) {
		tell_region(&e->client, "a page", pages, page, access);
		tell_region(&e->client, "a page, and one to read", pages, page + 1, access);
		tell_region(&e->client, "a page to read", pages + page, page, access);
		tell_region(&e->client, "its last byte, and one beyond", pages + 2 * page - 1, 2,
			    access);
		tell_region(&e->client, "a page that is not there", pages + 2 * page, page, access);
		tell_region(&e->client, "no byte", pages, 0, access);
	}
	for (size_t i = 0; i < sizeof(accesses) / sizeof(*accesses); i++)
		tell_region(&e->client, "a page", pages, page, accesses[i]);
}

/* ---- Steps ---- */

#define INIT (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define RTR                                                                             \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | \
	 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTS                                                                                    \
	(IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | \
	 IBV_QP_MAX_QP_RD_ATOMIC)

static const struct {
	enum ibv_qp_state to;
	int mask;
	const char *help;
} steps[] = {
	{ IBV_QPS_RTS, IBV_QP_STATE, "RESET to RTS" },
	{ IBV_QPS_RTR, RTR, "RESET to RTR" },
	{ IBV_QPS_ERR, IBV_QP_STATE, "RESET to ERR" },
	{ IBV_QPS_INIT, IBV_QP_STATE, "INIT without attributes" },
	{ IBV_QPS_INIT, INIT & ~IBV_QP_PORT, "INIT without a port" },
	{ IBV_QPS_INIT, INIT | IBV_QP_SQ_PSN, "INIT with a PSN, too" },
	{ IBV_QPS_INIT, INIT, "INIT" },
	{ IBV_QPS_INIT, INIT & ~IBV_QP_STATE, "INIT's attributes again" },
	{ IBV_QPS_RTR, IBV_QP_STATE, "RTR without attributes" },
	{ IBV_QPS_RTR, RTR & ~IBV_QP_MAX_DEST_RD_ATOMIC, "RTR without a depth" },
	{ IBV_QPS_RTR, RTR & ~IBV_QP_MIN_RNR_TIMER, "RTR without an RNR timer" },
	{ IBV_QPS_RTS, RTS, "INIT to RTS" },
	{ IBV_QPS_RTR, RTR | IBV_QP_ACCESS_FLAGS, "RTR with access flags" },
	{ IBV_QPS_RTR, RTR, "RTR again" },
	{ IBV_QPS_RTS, IBV_QP_STATE, "RTS without attributes" },
	{ IBV_QPS_RTS, RTS & ~IBV_QP_TIMEOUT, "RTS without a timeout" },
	{ IBV_QPS_RTS, RTS & ~IBV_QP_MAX_QP_RD_ATOMIC, "RTS without a depth" },
	{ IBV_QPS_RTS, RTS, "RTS" },
	{ IBV_QPS_RTS, IBV_QP_MIN_RNR_TIMER, "the RNR timer in RTS" },
	{ IBV_QPS_RTS, IBV_QP_TIMEOUT, "the timeout in RTS" },
	{ IBV_QPS_RTS, IBV_QP_STATE, "RTS again" },
	{ IBV_QPS_ERR, IBV_QP_STATE | IBV_QP_TIMEOUT, "ERR with a timeout" },
	{ IBV_QPS_ERR, IBV_QP_STATE, "ERR" },
	{ IBV_QPS_INIT, INIT, "ERR to INIT" },
	{ IBV_QPS_RESET, IBV_QP_STATE | IBV_QP_PORT, "RESET with a port" },
	{ IBV_QPS_RESET, IBV_QP_STATE, "RESET" },
};

/* Each step of a QP that is connected by hand, with right and wrong attributes. */
void ask_steps(struct ends *e, int unused)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC };
	struct ibv_qp_attr attr = { 0 };
	struct ibv_qp *qp;

	(void)unused;
	must(!ibv_query_qp(e->client.id->qp, &attr, IBV_QP_AV | IBV_QP_PORT, &init),
	     "ibv_query_qp");
	attr.path_mtu = IBV_MTU_256;
	attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	attr.max_rd_atomic = attr.max_dest_rd_atomic = 1;
	init.cap = (struct ibv_qp_cap){ 1, 1, 1, 1, 0 };
	init.send_cq = init.recv_cq = e->client.cq;
	init.srq = NULL;
	qp = ibv_create_qp(e->client.pd, &init);
	must(qp, "ibv_create_qp");
	attr.dest_qp_num = qp->qp_num;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		attr.qp_state = steps[i].to;
		told("%s: %s", steps[i].help, strerror(ibv_modify_qp(qp, &attr, steps[i].mask)));
	}
}
