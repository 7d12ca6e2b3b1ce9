/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Operations: those that each type of QP has, and the rights that they need. See refused.h.
 */
#include "verbs-sim/tests/refused/refused.h"

static const struct {
	enum ibv_wr_opcode opcode;
	const char *name;
	int right;
} operations[] = {
	{ IBV_WR_SEND, "SEND", 0 },
	{ IBV_WR_SEND_WITH_IMM, "SEND_WITH_IMM", 0 },
	{ IBV_WR_SEND_WITH_INV, "SEND_WITH_INV", 0 },
	{ IBV_WR_RDMA_WRITE, "RDMA_WRITE", WRITING },
	{ IBV_WR_RDMA_WRITE_WITH_IMM, "RDMA_WRITE_WITH_IMM", WRITING },
	{ IBV_WR_RDMA_READ, "RDMA_READ", READING },
	{ IBV_WR_ATOMIC_CMP_AND_SWP, "ATOMIC_CMP_AND_SWP", COUNTING },
	{ IBV_WR_ATOMIC_FETCH_AND_ADD, "ATOMIC_FETCH_AND_ADD", COUNTING },
	{ IBV_WR_LOCAL_INV, "LOCAL_INV", 0 },
};

/* Returns what comes of an operation of new QPs with these rights. */
static const char *try_operation(enum ibv_wr_opcode opcode, enum ibv_qp_type type, int rights,
				 const struct ibv_mr *mr, struct ibv_ah *ah)
{
	struct ibv_send_wr wr = operation(opcode, mr->rkey, (uintptr_t)mr->addr, 8);

	wr.num_sge = opcode != IBV_WR_LOCAL_INV;
	if (type == IBV_QPT_UD) {
		ends.client.id->qp = create_for_datagrams(&ends.client, IBV_QPS_RTS);
		wr.wr.ud.ah = ah;
	} else {
		pair_anew(&ends, type, rights, 1, 1);
		must(!post_recv(&ends.server, 64), "ibv_post_recv");
	}
	return outcome(&ends.client, wr);
}

/* Prints which operations of a type of QP do not succeed. */
void try_operations(void)
{
	struct ibv_mr *mr = region_of(&ends.server, ALL);
	struct ibv_ah_attr path = path_to_server();
	struct ibv_ah *ah = ibv_create_ah(ends.client.pd, &path);
	const char *status;
	size_t i, k;

	for (i = 0; i < LENGTH(types); i++) {
		for (k = 0; k < LENGTH(operations); k++) {
			status = try_operation(operations[k].opcode, types[i].type, ALL, mr, ah);
			if (!is_good(status))
				printf("%s %s: %s\n", types[i].name, operations[k].name, status);
		}
	}
}

/* Prints what comes of a region with that right alone, of one with all others, and of such QPs. */
void try_rights(void)
{
	const struct ibv_mr *mr;
	size_t i, k;

	for (i = 0; i < LENGTH(operations); i++) {
		int right = operations[i].right, alone = LOCAL | right, others = ALL & ~right;
		const struct {
			int of_region, of_qps;
		} rights[] = { { alone, ALL }, { others, ALL }, { ALL, alone }, { ALL, others } };

		for (k = 0; right && k < LENGTH(rights); k++) {
			mr = region_of(&ends.server, rights[k].of_region);
			printf("%s%s", k ? ", " : operations[i].name, k ? "" : ": ");
			printf("%s%s",
			       try_operation(operations[i].opcode, IBV_QPT_RC, rights[k].of_qps, mr,
					     NULL),
			       k < 3 ? "" : "\n");
		}
	}
}
