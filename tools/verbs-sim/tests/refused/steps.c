/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Steps of QPs from state to state: each attribute that one needs, and each that it can do without. See
 * refused.h.
 */
#include "verbs-sim/tests/refused/refused.h"

#define INIT   (IBV_QP_PKEY_INDEX | IBV_QP_PORT)
#define RTR    (IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define RTR_RC (IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTS_RC (IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC)

static const char *const states[] = { "RESET", "INIT", "RTR", "RTS" };

/* The attributes that a step to each state needs, by the InfiniBand specification, 11.2.5.2. */
static const int needs[][LENGTH(states)] = {
	[IBV_QPT_RC] = { 0, INIT | IBV_QP_ACCESS_FLAGS, RTR | RTR_RC, IBV_QP_SQ_PSN | RTS_RC },
	[IBV_QPT_UC] = { 0, INIT | IBV_QP_ACCESS_FLAGS, RTR, IBV_QP_SQ_PSN },
	[IBV_QPT_UD] = { 0, INIT | IBV_QP_QKEY, 0, IBV_QP_SQ_PSN },
};

/* By their bits, of which the first is IBV_QP_STATE. */
static const char *const attributes[] = {
	"",
	"CUR_STATE",
	"EN_SQD",
	"ACCESS_FLAGS",
	"PKEY_INDEX",
	"PORT",
	"QKEY",
	"AV",
	"PATH_MTU",
	"TIMEOUT",
	"RETRY_CNT",
	"RNR_RETRY",
	"RQ_PSN",
	"MAX_QP_RD_ATOMIC",
	"ALT_PATH",
	"MIN_RNR_TIMER",
	"SQ_PSN",
	"MAX_DEST_RD_ATOMIC",
	"PATH_MIG_STATE",
	"CAP",
	"DEST_QPN",
};

static int step(struct ibv_qp *qp, struct ibv_qp_attr attr, enum ibv_qp_state to, int mask)
{
	attr.qp_state = attr.cur_qp_state = to;
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask);
}

/* Returns true if a QP in one state can be moved into another so. */
static bool moves(struct ibv_qp *qp, struct ibv_qp_attr attr, enum ibv_qp_state from,
		  enum ibv_qp_state to, int mask)
{
	enum ibv_qp_state state;

	must(!step(qp, attr, IBV_QPS_RESET, 0), "to RESET");
	for (state = IBV_QPS_INIT; state <= from; state++)
		must(!step(qp, attr, state, needs[qp->qp_type][state]), states[state]);
	return !step(qp, attr, to, mask);
}

static void try_step(struct ibv_qp *qp, const char *type, enum ibv_qp_state from,
		     enum ibv_qp_state to)
{
	struct ibv_qp_attr attr = { .port_num = 1, .path_mtu = IBV_MTU_256, .alt_port_num = 1 };
	int mask = from == to ? 0 : needs[qp->qp_type][to];
	size_t bit;

	attr.ah_attr = attr.alt_ah_attr = path_to_server();
	if (!moves(qp, attr, from, to, mask))
		return;
	printf("%s, %s to %s, as well with", type, states[from], states[to]);
	for (bit = 1; bit < LENGTH(attributes); bit++) {
		if (moves(qp, attr, from, to, mask ^ 1 << bit))
			printf("%s %s", mask & 1 << bit ? "out" : "", attributes[bit]);
	}
	puts("");
}

void try_steps(void)
{
	enum ibv_qp_state from, to;
	struct ibv_qp *qp;
	size_t i;

	for (i = 0; i < LENGTH(types); i++) {
		qp = create_qp_of(&ends.client, types[i].type);
		for (from = IBV_QPS_RESET; from <= IBV_QPS_RTS; from++) {
			for (to = IBV_QPS_INIT; to <= IBV_QPS_RTS; to++)
				try_step(qp, types[i].name, from, to);
		}
	}
}
