/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Memory windows: what becomes of one before the access, which rights it can have, and which bytes. See
 * refused.h.
 */
#include "verbs-sim/tests/refused/refused.h"

#define BINDING   IBV_ACCESS_MW_BIND
#define OPEN      (ALL | BINDING)
#define FROM_ZERO IBV_ACCESS_ZERO_BASED

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

static const char *const hows[] = {
	[WELL] = "",
	[OTHER_PD] = ", window of another PD",
	[OTHER_QP] = ", by another QP",
	[TWICE] = ", bound twice",
	[NO_REGION] = ", to no region",
	[GONE] = ", deallocated",
	[ENDED] = ", invalidated",
	[SENT] = ", invalidated by the peer",
};

struct right {
	const char *what;
	int region, rights;
	enum ibv_wr_opcode opcode;
};

static const struct right to_write = { "", OPEN, WRITING, IBV_WR_RDMA_WRITE };

static const struct right rights[] = {
	{ "to write, in a region not to bind", ALL, WRITING, IBV_WR_RDMA_WRITE },
	{ "to write, in a region to read", READING | BINDING, WRITING, IBV_WR_RDMA_WRITE },
	{ "to count, in a region to read", READING | BINDING, COUNTING,
	  IBV_WR_ATOMIC_FETCH_AND_ADD },
	{ "to read, in a region to read", READING | BINDING, READING, IBV_WR_RDMA_READ },
	{ "to write, in a region with no right", LOCAL | BINDING, WRITING, IBV_WR_RDMA_WRITE },
	{ "to write, a READ", OPEN, WRITING, IBV_WR_RDMA_READ },
	{ "to read, a WRITE", OPEN, READING, IBV_WR_RDMA_WRITE },
	{ "to count, an ADD", OPEN, COUNTING, IBV_WR_ATOMIC_FETCH_AND_ADD },
	{ "to count, a WRITE", OPEN, COUNTING, IBV_WR_RDMA_WRITE },
};

/* `from` and `at` count from the beginning of the region, but `at` FROM_ZERO from 0. */
struct place {
	const char *what;
	int type, base, from;
	uint32_t bytes;
	int at;
	uint32_t length;
};

static const struct place whole[] = {
	{ "type 1", 1, 0, 0, REGION, 0, 8 },
	{ "type 2", 2, 0, 0, REGION, 0, 8 },
};

static const struct place places[] = {
	{ "of the last byte", 2, 0, REGION - 1, 1, REGION - 1, 1 },
	{ "of the last byte, the one before", 2, 0, REGION - 1, 1, REGION - 2, 1 },
	{ "of the first byte, the next", 2, 0, 0, 1, 1, 1 },
	{ "of the first byte, two", 2, 0, 0, 1, 0, 2 },
	{ "of a byte beyond", 2, 0, REGION - 1, 2, REGION - 1, 1 },
	{ "of a byte before", 2, 0, -1, 2, 0, 1 },
	{ "of all, the last byte", 2, 0, 0, REGION, REGION - 1, 1 },
	{ "of all, a byte beyond", 2, 0, 0, REGION, REGION - 1, 2 },
	{ "of all, a byte before", 2, 0, 0, REGION, -1, 1 },
	{ "of no byte", 2, 0, 0, 0, 0, 1 },
	{ "type 1 of no byte", 1, 0, 0, 0, 0, 1 },
	{ "from zero, the last byte", 2, FROM_ZERO, REGION - 1, 1, 0, 1 },
	{ "from zero, the next", 2, FROM_ZERO, REGION - 2, 1, 1, 1 },
	{ "from zero, one before", 2, FROM_ZERO, 1, 1, -1, 1 },
	{ "type 1 from zero", 1, FROM_ZERO, 0, REGION, 0, 8 },
};

struct window {
	enum how how;
	const struct right *right;
	const struct place *place;
};

static const char *bind_window(const struct window *window, struct ibv_mw *mw, struct ibv_mr *mr)
{
	struct ibv_mr other = *mr;
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW };
	const char *status;

	other.lkey += window->how == NO_REGION ? 0x10000 : 0;
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info.mr = &other;
	wr.bind_mw.bind_info.addr = (uintptr_t)mr->addr + (uint64_t)window->place->from;
	wr.bind_mw.bind_info.length = window->place->bytes;
	wr.bind_mw.bind_info.mw_access_flags =
		(unsigned int)(window->right->rights | window->place->base);
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

/* Prints what comes of binding it, of what it is to suffer, and of the access. */
static void try_window(struct window window)
{
	const struct place *place = window.place;
	struct ibv_mr *mr = region_of(&ends.server, window.right->region);
	struct ibv_pd *pd = window.how == OTHER_PD ? ibv_alloc_pd(mr->context) : mr->pd;
	struct ibv_mw *mw = ibv_alloc_mw(pd, (enum ibv_mw_type)place->type);
	uint64_t to = (place->base ? 0 : (uintptr_t)mr->addr) + (uint64_t)place->at;
	const char *status;
	uint32_t key;

	pair_anew(&ends, IBV_QPT_RC, ALL, 1, 1);
	status = bind_window(&window, mw, mr);
	key = mw->rkey;
	printf(": %s", status);
	status = is_good(status) ? spoil(&window, mw, mr) : NULL;
	printf("%s%s", status ? ", " : "", status ? status : "");
	printf(", access: %s\n",
	       outcome(&ends.client, operation(window.right->opcode, key, to, place->length)));
}

void try_windows(void)
{
	enum how how;
	size_t i;

	for (how = WELL; how < LENGTH(hows); how++) {
		for (i = 0; i < LENGTH(whole); i++) {
			printf("%s%s", whole[i].what, hows[how]);
			try_window((struct window){ how, &to_write, &whole[i] });
		}
	}
	for (i = 0; i < LENGTH(rights); i++) {
		printf("%s", rights[i].what);
		try_window((struct window){ WELL, &rights[i], &whole[1] });
	}
	for (i = 0; i < LENGTH(places); i++) {
		printf("%s", places[i].what);
		try_window((struct window){ WELL, &to_write, &places[i] });
	}
}
