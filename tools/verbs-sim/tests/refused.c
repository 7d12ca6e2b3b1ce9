/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * refused: both ends of a connection, and tables of what a device refuses, each beside the like that it
 * does not: the argument is a table. tests/sim/transcripts/device.txt has what comes of it.
 */
#define DEPTH  8
#define BUFFER 4096

#include <malloc.h>

#include "verbs/two_ends.h"

#define LENGTH(table) (sizeof(table) / sizeof((table)[0]))
#define WRITING       IBV_ACCESS_REMOTE_WRITE
#define READING       IBV_ACCESS_REMOTE_READ
#define COUNTING      IBV_ACCESS_REMOTE_ATOMIC
#define LOCAL         IBV_ACCESS_LOCAL_WRITE
#define ALL           (LOCAL | WRITING | READING | COUNTING)
#define REGION        64        /* bytes, in the middle of a buffer */
#define FROM_ZERO     (1 << 20) /* an address counts from 0 */

static struct ends ends = { .param = { .retry_count = 6, .rnr_retry_count = 6 } };
static struct sockaddr_in address = { .sin_family = AF_INET };

/* Returns the status of the next completion. */
static const char *next_status(struct end *end)
{
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 1000; i++, usleep(100)) {
		if (ibv_poll_cq(end->cq, 1, &wc))
			return ibv_wc_status_str(wc.status);
	}
	return "nothing";
}

static bool is_good(const char *status)
{
	return !strcmp(status, ibv_wc_status_str(IBV_WC_SUCCESS));
}

static const char *outcome(struct end *end, struct ibv_send_wr wr)
{
	struct ibv_send_wr *bad;
	int ret = ibv_post_send(end->id->qp, &wr, &bad);

	return ret ? strerror(abs(ret)) : next_status(end);
}

static struct ibv_mr *region_of(struct end *end, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(end->pd, end->buffer + BUFFER / 2, REGION, access);

	must(mr, "ibv_reg_mr");
	return mr;
}

/* ---- Operations of each type of QP ---- */

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

/* A request of 8 bytes, from the client's buffer to the beginning of a region or window of the server. */
static struct ibv_send_wr operation(enum ibv_wr_opcode opcode, uint32_t rkey, int at,
				    uint32_t length)
{
	static struct ibv_sge sge;
	struct ibv_send_wr wr = { .opcode = opcode, .sg_list = &sge, .num_sge = length > 0 };

	sge = (struct ibv_sge){ (uintptr_t)ends.client.buffer, length, ends.client.mr->lkey };
	wr.wr.rdma.remote_addr = (uintptr_t)ends.server.buffer + BUFFER / 2 + (uint64_t)at;
	if (at >= FROM_ZERO - 1)
		wr.wr.rdma.remote_addr = (uint64_t)(at - FROM_ZERO);
	wr.wr.rdma.rkey = rkey;
	if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = wr.wr.rdma.remote_addr;
		wr.wr.atomic.rkey = rkey;
	}
	return wr;
}

static void bring_up_datagrams(struct ibv_qp *qp, enum ibv_qp_state to)
{
	struct ibv_qp_attr attr = { .port_num = 1, .qkey = 7 };
	enum ibv_qp_state state;

	for (state = IBV_QPS_INIT; state <= to; state++) {
		attr.qp_state = state;
		must(!ibv_modify_qp(qp, &attr,
				    IBV_QP_STATE |
					    (state == IBV_QPS_INIT
						     ? IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY
					     : state == IBV_QPS_RTS ? IBV_QP_SQ_PSN
								    : 0)),
		     "ibv_modify_qp");
	}
}

static struct ibv_ah_attr path_of(struct end *end)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	must(!ibv_query_qp(end->id->qp, &attr, IBV_QP_AV, &init), "ibv_query_qp");
	return attr.ah_attr;
}

/* Prints which operations of a type of QP do not succeed. */
static void try_operations(void)
{
	static const char *const types[] = { [IBV_QPT_RC] = "RC", "UC", [IBV_QPT_UD] = "UD" };
	static const enum ibv_qp_type all[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };
	struct ibv_mr *mr = region_of(&ends.server, ALL);
	struct ibv_ah_attr path = path_of(&ends.client);
	struct ibv_ah *ah = ibv_create_ah(ends.client.pd, &path);
	struct ibv_send_wr wr;
	const char *status;
	size_t i, k;

	for (i = 0; i < LENGTH(all); i++) {
		for (k = 0; k < LENGTH(operations); k++) {
			wr = operation(operations[k].opcode, mr->rkey, 0, 8);
			wr.num_sge = wr.opcode != IBV_WR_LOCAL_INV;
			if (all[i] != IBV_QPT_UD) {
				pair_anew(&ends, all[i], ALL, 1, 1);
				must(!post_recv(&ends.server, 64), "ibv_post_recv");
			} else {
				ends.client.id->qp = create_qp_of(&ends.client, IBV_QPT_UD);
				bring_up_datagrams(ends.client.id->qp, IBV_QPS_RTS);
				wr.wr.ud.ah = ah;
			}
			status = outcome(&ends.client, wr);
			if (!is_good(status))
				printf("%s %s: %s\n", types[all[i]], operations[k].name, status);
		}
	}
}

/* ---- Rights: each alone, and all others ---- */

/* Prints what comes of a region with that right alone, of one with all others, and of such QPs. */
static void try_rights(void)
{
	size_t i, k;

	for (i = 0; i < LENGTH(operations); i++) {
		int right = operations[i].right;

		for (k = 0; right && k < 4; k++) {
			int some = k % 2 ? ALL & ~right : LOCAL | right;
			struct ibv_mr *mr = region_of(&ends.server, k < 2 ? some : ALL);

			pair_anew(&ends, IBV_QPT_RC, k < 2 ? ALL : some, 1, 1);
			must(!post_recv(&ends.server, 64), "ibv_post_recv");
			printf("%s%s", k ? ", " : operations[i].name, k ? "" : ": ");
			printf("%s%s",
			       outcome(&ends.client,
				       operation(operations[i].opcode, mr->rkey, 0, 8)),
			       k < 3 ? "" : "\n");
		}
	}
}

/* ---- Memory windows ---- */

enum how {
	WELL,
	OTHER_PD,  /* the window is of another PD than the QP */
	OTHER_QP,  /* a QP that has not bound it */
	TWICE,     /* it is bound already */
	NO_REGION, /* a key that no region has */
	GONE,      /* it is deallocated before the access */
	ENDED,     /* it is invalidated before the access, by its own QP */
	SENT       /* or by the peer's message */
};

static const struct window {
	const char *what;
	int type, region, rights, from;
	uint32_t bytes;
	enum how how;
	enum ibv_wr_opcode opcode;
	int at;
	uint32_t length;
} windows[] = {
#define W(what, type, how)                                                             \
	{                                                                              \
		what, type, ALL, ALL & ~LOCAL, 0, REGION, how, IBV_WR_RDMA_WRITE, 0, 8 \
	}
	W("type 1", 1, WELL),
	W("type 2", 2, WELL),
	W("type 1, window of another PD", 1, OTHER_PD),
	W("type 2, window of another PD", 2, OTHER_PD),
	W("type 1, by another QP", 1, OTHER_QP),
	W("type 2, by another QP", 2, OTHER_QP),
	W("type 1, bound twice", 1, TWICE),
	W("type 2, bound twice", 2, TWICE),
	W("type 1, to no region", 1, NO_REGION),
	W("type 2, to no region", 2, NO_REGION),
	W("type 1, deallocated", 1, GONE),
	W("type 2, deallocated", 2, GONE),
	W("type 1, invalidated", 1, ENDED),
	W("type 2, invalidated", 2, ENDED),
	W("type 1, invalidated by the peer", 1, SENT),
	W("type 2, invalidated by the peer", 2, SENT),
#undef W
#define W(what, type, region, rights, opcode)                             \
	{                                                                 \
		what, type, region, rights, 0, REGION, WELL, opcode, 0, 8 \
	}
	W("to write, in a region not to bind", 2, ALL | IBV_ACCESS_MW_BIND, WRITING,
	  IBV_WR_RDMA_WRITE),
	W("to write, in a region to read", 2, READING, WRITING, IBV_WR_RDMA_WRITE),
	W("to count, in a region to read", 2, READING, COUNTING, IBV_WR_ATOMIC_FETCH_AND_ADD),
	W("to read, in a region to read", 2, READING, READING, IBV_WR_RDMA_READ),
	W("to write, in a region with no right", 2, LOCAL, WRITING, IBV_WR_RDMA_WRITE),
	W("to write, a WRITE", 2, ALL, WRITING, IBV_WR_RDMA_WRITE),
	W("to write, a READ", 2, ALL, WRITING, IBV_WR_RDMA_READ),
	W("to read, a READ", 2, ALL, READING, IBV_WR_RDMA_READ),
	W("to read, a WRITE", 2, ALL, READING, IBV_WR_RDMA_WRITE),
	W("to count, an ADD", 2, ALL, COUNTING, IBV_WR_ATOMIC_FETCH_AND_ADD),
	W("to count, a WRITE", 2, ALL, COUNTING, IBV_WR_RDMA_WRITE),
#undef W
#define W(what, from, bytes, at, length)                                                \
	{                                                                               \
		what, 2, ALL, WRITING, from, bytes, WELL, IBV_WR_RDMA_WRITE, at, length \
	}
	W("of the last byte", REGION - 1, 1, REGION - 1, 1),
	W("of the last byte, the one before", REGION - 1, 1, REGION - 2, 1),
	W("of the first byte, the next", 0, 1, 1, 1),
	W("of the first byte, two", 0, 1, 0, 2),
	W("of a byte beyond", REGION - 1, 2, REGION - 1, 1),
	W("of a byte before", -1, 2, 0, 1),
	W("of all, the last byte", 0, REGION, REGION - 1, 1),
	W("of all, a byte beyond", 0, REGION, REGION - 1, 2),
	W("of all, a byte before", 0, REGION, -1, 1),
	W("of no byte", 0, 0, 0, 1),
#undef W
	{ "type 1 of no byte", 1, ALL, WRITING, 0, 0, WELL, IBV_WR_RDMA_WRITE, 0, 1 },
	{ "from zero, the last byte", 2, ALL, WRITING | IBV_ACCESS_ZERO_BASED, REGION - 1, 1, WELL,
	  IBV_WR_RDMA_WRITE, FROM_ZERO, 1 },
	{ "from zero, the next", 2, ALL, WRITING | IBV_ACCESS_ZERO_BASED, REGION - 2, 1, WELL,
	  IBV_WR_RDMA_WRITE, FROM_ZERO + 1, 1 },
	{ "from zero, one before", 2, ALL, WRITING | IBV_ACCESS_ZERO_BASED, 1, 1, WELL,
	  IBV_WR_RDMA_WRITE, FROM_ZERO - 1, 1 },
	{ "type 1 from zero", 1, ALL, WRITING | IBV_ACCESS_ZERO_BASED, 0, REGION, WELL,
	  IBV_WR_RDMA_WRITE, 0, 8 },
};

static const char *bind_window(const struct window *window, struct ibv_mw *mw, struct ibv_mr *mr)
{
	struct ibv_mr other = *mr;
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW };
	const char *status;

	other.lkey += window->how == NO_REGION ? 0x10000 : 0;
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info =
		(struct ibv_mw_bind_info){ &other, (uintptr_t)mr->addr + (uint64_t)window->from,
					   window->bytes, (unsigned int)window->rights };
	status = outcome(&ends.server, wr);
	mw->rkey = wr.bind_mw.rkey;
	return status;
}

/* Does what the window is to suffer before the access. Returns the status, or NULL. */
static const char *spoil(const struct window *window, struct ibv_mw *mw, struct ibv_mr *mr)
{
	struct ibv_send_wr end = { .opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = mw->rkey };

	switch (window->how) {
	case OTHER_QP:
		pair_anew(&ends, IBV_QPT_RC, ALL, 1, 1);
		return NULL;
	case TWICE:
		return bind_window(window, mw, mr);
	case GONE:
		return strerror(ibv_dealloc_mw(mw));
	case ENDED:
		return outcome(&ends.server, end);
	case SENT:
		end.opcode = IBV_WR_SEND_WITH_INV;
		must(!post_recv(&ends.server, 64), "ibv_post_recv");
		outcome(&ends.client, end);
		return next_status(&ends.server);
	default:
		return NULL;
	}
}

static void try_windows(void)
{
	struct ibv_pd *other = ibv_alloc_pd(ends.server.id->verbs);
	const struct window *window;
	const char *status;
	struct ibv_mw *mw;
	struct ibv_mr *mr;
	uint32_t key;

	for (window = windows; window < windows + LENGTH(windows); window++) {
		mr = region_of(&ends.server, window->region ^ IBV_ACCESS_MW_BIND);
		mw = ibv_alloc_mw(window->how == OTHER_PD ? other : ends.server.pd,
				  (enum ibv_mw_type)window->type);
		pair_anew(&ends, IBV_QPT_RC, ALL, 1, 1);
		status = bind_window(window, mw, mr);
		key = mw->rkey;
		printf("%s: %s", window->what, status);
		status = is_good(status) ? spoil(window, mw, mr) : NULL;
		printf("%s%s", status ? ", " : "", status ? status : "");
		printf(", access: %s\n",
		       outcome(&ends.client,
			       operation(window->opcode, key, window->at, window->length)));
	}
}

/* ---- Steps of QPs ---- */

#define ATTRIBUTES 21 /* bits, from IBV_QP_STATE to IBV_QP_DEST_QPN */

static const char *const states[] = { "RESET", "INIT", "RTR", "RTS" };
static const int init_needs = IBV_QP_PKEY_INDEX | IBV_QP_PORT;
static const int rtr_needs = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
static const int rts_needs = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_MAX_QP_RD_ATOMIC;

/* Returns what a step to this state needs, by the InfiniBand specification, 11.2.5.2. */
static int needs_of(enum ibv_qp_type type, enum ibv_qp_state to)
{
	bool rc = type == IBV_QPT_RC, ud = type == IBV_QPT_UD;

	switch (to) {
	case IBV_QPS_INIT:
		return init_needs | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
	case IBV_QPS_RTR:
		return ud ? 0
			  : rtr_needs | (rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0);
	case IBV_QPS_RTS:
		return IBV_QP_SQ_PSN | (rc ? rts_needs : 0);
	default:
		return 0;
	}
}

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
		must(!step(qp, attr, state, needs_of(qp->qp_type, state)), states[state]);
	return !step(qp, attr, to, mask);
}

static void try_steps(void)
{
	static const char *const types[] = { [IBV_QPT_RC] = "RC", "UC", [IBV_QPT_UD] = "UD" };
	static const char *const names[] = { "",
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
					     "DEST_QPN" };
	static const enum ibv_qp_type all[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };
	struct ibv_qp_attr attr = { .port_num = 1, .path_mtu = IBV_MTU_256, .alt_port_num = 1 };
	enum ibv_qp_state from, to;
	struct ibv_qp *qp;
	size_t i;
	int bit, mask;

	attr.ah_attr = attr.alt_ah_attr = path_of(&ends.client);
	for (i = 0; i < LENGTH(all); i++) {
		qp = create_qp_of(&ends.client, all[i]);
		for (from = IBV_QPS_RESET; from <= IBV_QPS_RTS; from++) {
			for (to = IBV_QPS_INIT; to <= IBV_QPS_RTS; to++) {
				mask = from == to ? 0 : needs_of(all[i], to);
				if (!moves(qp, attr, from, to, mask))
					continue;
				printf("%s, %s to %s, as well with", types[all[i]], states[from],
				       states[to]);
				for (bit = 1; bit < ATTRIBUTES; bit++) {
					if (moves(qp, attr, from, to, mask ^ 1 << bit))
						printf("%s %s", mask & 1 << bit ? "out" : "",
						       names[bit]);
				}
				puts("");
			}
		}
	}
}

/* ---- Datagrams ---- */

/* A QP in more and more groups. */
static void try_groups(void)
{
	static const uint8_t first[] = { 223, 240, 239, 224 }; /* bytes of IPv4 addresses */
	struct ibv_qp *qp = create_qp_of(&ends.client, IBV_QPT_UD);
	union ibv_gid group = { .raw = { [10] = 0xff, 0xff } };
	size_t i;
	int ret;

	for (i = 0; i < LENGTH(first); i++) {
		group.raw[12] = first[i];
		printf("%u.0.0.0: %s\n", first[i], strerror(ibv_attach_mcast(qp, &group, 0)));
	}
	while (!(ret = ibv_attach_mcast(qp, &group, 0)))
		group.raw[15]++;
	printf("224.0.0.%u: %s\n", group.raw[15], strerror(ret));
	while (group.raw[15]-- && !ibv_attach_mcast(qp, &group, 0) &&
	       !ibv_detach_mcast(qp, &group, 0))
		printf("ibv_destroy_qp: %s\n", strerror(ibv_destroy_qp(qp)));
	group.raw[12] = 239;
	group.raw[15] = 0;
	printf("239.0.0.0: %s, ", strerror(ibv_detach_mcast(qp, &group, 0)));
	printf("ibv_destroy_qp: %s\n", strerror(ibv_destroy_qp(qp)));
}

static void try_datagrams(void)
{
	enum {
		RIGHT,
		OTHER_KEY,
		OTHER_QP_NUMBER,
		OTHER_GID,
		NOT_READY,
		OF_RC,
		AH_GONE
	};
	static const struct {
		const char *what;
		int how;
		uint32_t length, room;
	} rows[] = {
		{ "right", RIGHT, 64, 104 },
		{ "a receive of one byte less", RIGHT, 64, 103 },
		{ "of the MTU", RIGHT, 1024, 2048 },
		{ "of one byte more", RIGHT, 1025, 2048 },
		{ "of no byte", RIGHT, 0, 40 },
		{ "another qkey", OTHER_KEY, 64, 104 },
		{ "another QP", OTHER_QP_NUMBER, 64, 104 },
		{ "another address", OTHER_GID, 64, 104 },
		{ "a QP that is not ready", NOT_READY, 64, 104 },
		{ "a QP of type RC", OF_RC, 64, 104 },
		{ "an AH that is destroyed", AH_GONE, 64, 104 },
	};
	struct ibv_ah_attr path = path_of(&ends.client), wrong;
	uint32_t rc = ends.server.id->qp->qp_num;
	struct ibv_port_attr port;
	size_t i;

	must(!ibv_query_port(ends.client.id->verbs, 1, &port), "ibv_query_port");
	if (port.link_layer == IBV_LINK_LAYER_INFINIBAND)
		path = (struct ibv_ah_attr){ .dlid = port.lid, .port_num = 1 };
	wrong = path;
	wrong.grh.dgid.raw[15]++;
	wrong.dlid++;
	for (i = 0; i < LENGTH(rows); i++) {
		struct ibv_ah *ah =
			ibv_create_ah(ends.client.pd, rows[i].how == OTHER_GID ? &wrong : &path);
		struct ibv_send_wr wr = operation(IBV_WR_SEND, 0, 0, rows[i].length);
		struct ibv_qp *peer = create_qp_of(&ends.server, IBV_QPT_UD);

		ends.client.id->qp = create_qp_of(&ends.client, IBV_QPT_UD);
		ends.server.id->qp = peer;
		bring_up_datagrams(ends.client.id->qp, IBV_QPS_RTS);
		bring_up_datagrams(peer, rows[i].how == NOT_READY ? IBV_QPS_INIT : IBV_QPS_RTR);
		must(!post_recv(&ends.server, rows[i].room), "ibv_post_recv");
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn =
			rows[i].how == OF_RC ? rc : peer->qp_num + (rows[i].how == OTHER_QP_NUMBER);
		wr.wr.ud.remote_qkey = 7 + (rows[i].how == OTHER_KEY);
		if (rows[i].how == AH_GONE) { /* librxe keeps the number of an AH in the AH */
			wr.wr.ud.ah =
				memcpy(malloc(malloc_usable_size(ah)), ah, malloc_usable_size(ah));
			must(!ibv_destroy_ah(ah), "ibv_destroy_ah");
		}
		printf("%s: %s,", rows[i].what, outcome(&ends.client, wr));
		printf(" %s\n", next_status(&ends.server));
	}
}

/* An id joins two groups, and leaves the first before its event. */
static void try_joining(void)
{
	struct sockaddr_in own = *(struct sockaddr_in *)rdma_get_local_addr(ends.listener);
	struct sockaddr_in groups[2] = { { .sin_family = AF_INET }, { .sin_family = AF_INET } };
	struct pollfd readable = { .fd = ends.events->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	int leaves, i;

	own.sin_port = 0;
	for (leaves = 0; leaves < 2; leaves++) {
		must(!rdma_create_id(ends.events, &id, NULL, RDMA_PS_UDP) &&
			     !rdma_bind_addr(id, (struct sockaddr *)&own),
		     "rdma_bind_addr");
		for (i = 0; i < 2; i++) {
			groups[i].sin_addr.s_addr = htonl(0xe0010203 + (uint32_t)i);
			must(!rdma_join_multicast(id, (struct sockaddr *)&groups[i],
						  i ? "second" : "first"),
			     "rdma_join_multicast");
		}
		if (leaves)
			rdma_leave_multicast(id, (struct sockaddr *)&groups[0]);
		printf("%s, then", leaves ? "leaves the first" : "joins");
		while (poll(&readable, 1, 100) == 1 && !rdma_get_cm_event(ends.events, &event)) {
			printf(" %s", (const char *)event->param.ud.private_data);
			rdma_ack_cm_event(event);
		}
		printf("\n");
		rdma_destroy_id(id);
	}
}

/* ---- Shared receive queues ---- */

static void try_pool(void)
{
	struct ibv_srq_init_attr init = { .attr = { 7, 1, 0 } };
	struct ibv_device_attr device;
	struct ibv_srq_attr attr;
	uint32_t i;

	must(!ibv_query_device(ends.server.id->verbs, &device), "ibv_query_device");
	ends.server.srq = ibv_create_srq(ends.server.pd, &init);
	must(ends.server.srq, "ibv_create_srq");
	for (i = 0; i < 3; i++)
		must(!post_recv(&ends.server, 64), "ibv_post_srq_recv");
	const struct {
		uint32_t max, limit;
		int mask;
	} rows[] = { { 0, 0, IBV_SRQ_MAX_WR },
		     { 2, 0, IBV_SRQ_MAX_WR },
		     { 3, 0, IBV_SRQ_MAX_WR },
		     { 0, 3, IBV_SRQ_LIMIT },
		     { 0, 4, IBV_SRQ_LIMIT },
		     { 15, 0, IBV_SRQ_MAX_WR },
		     { 0, 6, IBV_SRQ_LIMIT },
		     { 5, 0, IBV_SRQ_MAX_WR },
		     { 6, 0, IBV_SRQ_MAX_WR },
		     { (uint32_t)device.max_srq_wr, 0, IBV_SRQ_MAX_WR },
		     { (uint32_t)device.max_srq_wr + 1, 0, IBV_SRQ_MAX_WR } };

	for (i = 0; i < LENGTH(rows); i++) {
		attr = (struct ibv_srq_attr){ .max_wr = rows[i].max, .srq_limit = rows[i].limit };
		printf("%s %u: %s\n", rows[i].limit ? "limit" : "size",
		       rows[i].limit ? rows[i].limit : rows[i].max,
		       strerror(abs(ibv_modify_srq(ends.server.srq, &attr, rows[i].mask))));
	}
}

/* ---- A QP in the place of one that has ended ---- */

static void try_place(void)
{
	struct ibv_qp *first = ends.client.id->qp;

	pair_anew(&ends, IBV_QPT_RC, ALL, 1, 1);
	must(!ibv_destroy_qp(first), "ibv_destroy_qp");
	pair_anew(&ends, IBV_QPT_RC, ALL, 1, 1);
	first = ends.client.id->qp;
	ends.client.id->qp = NULL; /* the library does nothing to it */
	must(!rdma_disconnect(ends.client.id), "rdma_disconnect");
	ends.client.id->qp = first;
	must(!post_recv(&ends.server, 64), "ibv_post_recv");
	puts(outcome(&ends.client, operation(IBV_WR_SEND, 0, 0, 8)));
}

/* ---- The 300th time ---- */

static const char data[] = "private data";

static void check_data(struct rdma_cm_event *event)
{
	const struct rdma_conn_param *conn = &event->param.conn;
	const char *got = conn->private_data;
	uint8_t i;

	for (i = 0; i < conn->private_data_len; i++) {
		if (got[i] != (i < ends.param.private_data_len ? data[i] : 0))
			printf("byte %u of the private data is %d\n", i, got[i]);
	}
}

/* Creates one of each with what is left, and expects that there is none; and what is refused. */
static void ask_for_more(void)
{
	struct ibv_context *context = ends.client.id->verbs;
	struct ibv_srq_init_attr pool = { .attr = { 1, 1, 0 } };

	must(!create_qp_of(&ends.client, IBV_QPT_RC) && errno == ENOMEM, "a QP more");
	must(!ibv_create_cq(context, 1, NULL, NULL, 0) && errno == ENOMEM, "a CQ more");
	must(!ibv_alloc_pd(context) && errno == ENOMEM, "a PD more");
	must(!ibv_create_srq(ends.client.pd, &pool) && errno == ENOMEM, "an SRQ more");
	must(!ibv_reg_mr(ends.client.pd, ends.client.buffer, 1, 0) && errno == ENOMEM,
	     "an MR more");
}

static void tear_down(struct end *end)
{
	rdma_destroy_qp(end->id);
	must(!end->srq || !ibv_destroy_srq(end->srq), "ibv_destroy_srq");
	must(!ibv_dereg_mr(end->mr) && !ibv_destroy_cq(end->cq) &&
		     !ibv_destroy_comp_channel(end->channel) && !ibv_dealloc_pd(end->pd) &&
		     !rdma_destroy_id(end->id),
	     "tear down");
	free(end->buffer);
}

/* The listener's backlog is 4. */
static void connect_again(void)
{
	equip(&ends.client, "client", resolve(ends.events, (struct sockaddr *)&address), 0, false);
	must(!rdma_connect(ends.client.id, &ends.param), "rdma_connect");
	accept_request(&ends);
	await_event(ends.events, RDMA_CM_EVENT_ESTABLISHED);
	await_event(ends.events, RDMA_CM_EVENT_ESTABLISHED);
}

/* The device has room for one connection, and is asked for another object of each kind each time. */
static void live_often(void)
{
	struct ibv_cq *cq;
	void *context;
	int i;

	for (i = 0; i < 300; i++) {
		ends.param.private_data = data;
		ends.param.private_data_len =
			(uint8_t)(sizeof(data) - (unsigned int)i % sizeof(data));
		ends.on_request = check_data;
		if (i)
			connect_again();
		ask_for_more();
		must(!ibv_req_notify_cq(ends.server.cq, 0), "ibv_req_notify_cq");
		must(!post_recv(&ends.server, 64) && !post_send(&ends.client, 64, 0), "post");
		must(!ibv_get_cq_event(ends.server.channel, &cq, &context), "ibv_get_cq_event");
		ibv_ack_cq_events(cq, 1);
		must(is_good(next_status(&ends.client)) && is_good(next_status(&ends.server)),
		     "a message");
		must(!rdma_disconnect(ends.client.id), "rdma_disconnect");
		await_event(ends.events, RDMA_CM_EVENT_DISCONNECTED);
		tear_down(&ends.client);
		tear_down(&ends.server);
	}
	must(!rdma_destroy_id(ends.listener), "rdma_destroy_id");
	rdma_destroy_event_channel(ends.events);
	printf("%d times\n", i);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*try)(void);
	} tables[] = {
		{ "operations", try_operations },
		{ "rights", try_rights },
		{ "windows", try_windows },
		{ "steps", try_steps },
		{ "groups", try_groups },
		{ "datagrams", try_datagrams },
		{ "pool", try_pool },
		{ "joining", try_joining },
		{ "place", try_place },
		{ "often", live_often },
	};
	size_t i;

	inet_pton(AF_INET, "192.0.2.1", &address.sin_addr);
	ends.pooled = argc == 2 && !strcmp(argv[1], "often");
	connect_ends(&ends, &address);
	for (i = 0; argc == 2 && i < LENGTH(tables); i++) {
		if (!strcmp(tables[i].name, argv[1]))
			tables[i].try();
	}
	return 0;
}
