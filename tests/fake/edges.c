/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: limits. Contract: a device with exactly the resources that the program needs
 * must do, and one less must be reported; what is needed is derived from docs/protocol.md, not from the
 * program. Only these rows meet a limit of the device. See lines.h.
 */
#include <stdio.h>

#include "tests/fake/lines.h"

#define SIZE(bytes) ADDRESS, "-q", "-c", "20", "-s", #bytes
#define BUFFERS     "-b", "8"
#define TWICE       "-a", FAKE_TWO_ADDRESSES, "-q", "-c", "20"

/*
 * ping: at most one message is under way; one receive is for its answer, or for the next message.
 */
#define PING_WRS  1
#define PING_CQES 2
/*
 * A stream: each buffer of a client may have a send, and a receive for credits. The number of
 * credit messages that an agent may have under way, 8, is this suite's choice. Both may also have a
 * keepalive among their sends.
 */
#define BLAST_CQES       (2 * LINE_BUFFERS + 1)
#define BLAST_AGENT_CQES (LINE_BUFFERS + 8 + 1)
/*
 * One-sided: two messages each way, before and after; a keepalive; and in between as many requests as
 * buffers, or at most three: talk-rdma-0 has a text, its mark and a READ under way.
 */
#define EXCHANGE    2
#define STREAM_WRS  (LINE_BUFFERS + EXCHANGE + 1)
#define STREAM_CQES (STREAM_WRS + EXCHANGE)
#define FEW         .config = { .max_qp_wr = 3 + EXCHANGE + 1, .max_cqe = 3 + EXCHANGE + 1 + EXCHANGE }
#define NO_EXCHANGE                                             \
	.config = { .max_cqe = 2 * EXCHANGE - 1 }, .status = 1, \
	.said = "it has at most 16 CQs of 3 entries"

const struct line edges[] = {
	{ .what = "needs no more of a CQ than what may be outstanding",
	  .who = CLIENT | SERVER | PING | BLIND,
	  .config = { .max_cqe = PING_CQES, .max_qp_wr = PING_WRS } },
	{ .what = "needs no more of a CQ than what may be outstanding, with a keepalive",
	  .who = CLIENT | SERVER | PING | WATCHING | OWN_RECEIVES,
	  .config = { .max_cqe = PING_CQES + 1, .max_qp_wr = PING_WRS + 1 } },
	{ .what = "says so if a CQ is one entry too small",
	  .who = CLIENT | SERVER | PING | BLIND,
	  .config = { .max_cqe = PING_CQES - 1 },
	  .status = 1,
	  .said = "it has at most 16 CQs of 1 entries" },
	{ .what = "says so if a CQ has no room for a keepalive",
	  .who = CLIENT | SERVER | PING | WATCHING,
	  .config = { .max_cqe = PING_CQES },
	  .status = 1,
	  .said = "it has at most 16 CQs of 2 entries" },
	{ .what = "has as many buffers as a CQ has room for",
	  .who = CLIENT | BLAST,
	  .config = { .max_cqe = BLAST_CQES, .max_qp_wr = LINE_BUFFERS + 1 },
	  .words = { WORK, "-q", BUFFERS } },
	{ .what = "has a buffer too many for a CQ",
	  .who = CLIENT | BLAST,
	  .config = { .max_cqe = BLAST_CQES - 1 },
	  .status = 2,
	  .said = "8 buffers (-b) are more than rxe0 takes: 7, because it has at most 1024 "
		  "work requests a queue and 16 entries a CQ",
	  .words = { WORK, "-q", BUFFERS } },
	{ .what = "has a buffer too many for a queue",
	  .who = CLIENT | BLAST,
	  .config = { .max_qp_wr = LINE_BUFFERS, .iwarp = true },
	  .status = 2,
	  .said = "8 buffers (-b) are more than siw0 takes: 7, because it has at most 8 work",
	  .words = { WORK, "-q", BUFFERS } },
	{ .what = "has room in its CQ for all buffers and all credits on their way",
	  .who = SERVER | BLAST,
	  .config = { .max_cqe = BLAST_AGENT_CQES, .max_qp_wr = LINE_BUFFERS + 1 },
	  .words = { ADDRESS, "-q" } },
	{ .what = "refuses a buffer too many for its CQ",
	  .who = SERVER | BLAST,
	  .config = { .max_cqe = BLAST_AGENT_CQES - 1 },
	  .said = "8 buffers (-b) are more than rxe0 takes: 7, because ",
	  .refused = 4,
	  .limit = 7,
	  .words = { ADDRESS, "-q" } },
	{ .what = "refuses a buffer too many for its queue",
	  .who = SERVER | BLAST,
	  .config = { .max_qp_wr = LINE_BUFFERS - 1, .iwarp = true },
	  .said = "8 buffers (-b) are more than siw0 takes: 7, because ",
	  .refused = 4,
	  .limit = 7,
	  .words = { ADDRESS, "-q" } },
	{ .what = "has as many requests under way as a CQ and a queue have room for",
	  .who = CLIENT | RDMA | STREAMING,
	  .config = { .max_cqe = STREAM_CQES, .max_qp_wr = STREAM_WRS },
	  .words = { WORK, "-q", BUFFERS } },
	{ .what = "has a request too many for a CQ",
	  .who = CLIENT | RDMA | STREAMING,
	  .config = { .max_cqe = STREAM_CQES - 1 },
	  .status = 2,
	  .said = "8 buffers (-b) are more than rxe0 takes: 7, because ",
	  .words = { WORK, "-q", BUFFERS } },
	{ .what = "has a request too many for a queue",
	  .who = CLIENT | RDMA | STREAMING,
	  .config = { .max_qp_wr = STREAM_WRS - 1, .iwarp = true },
	  .status = 2,
	  .said = "8 buffers (-b) are more than siw0 takes: 7, because ",
	  .words = { WORK, "-q", BUFFERS } },
	{ .what = "needs no more than a few work requests", .who = SERVER | RDMA | STREAMING, FEW },
	{ .what = "needs no more than a few work requests",
	  .who = CLIENT | SERVER | RDMA | READING,
	  FEW },
	{ .what = "needs no more than a few work requests",
	  .who = CLIENT | SERVER | RDMA | SPINNING,
	  FEW },
	{ .what = "needs no more than a few work requests",
	  .who = CLIENT | SERVER | RDMA | WRITTEN,
	  FEW },
	{ .what = "needs no more than a few work requests", .who = SERVER | RDMA | TALKING, FEW },
	{ .what = "says so if a CQ has no room for the messages before and after",
	  .who = SERVER | RDMA,
	  NO_EXCHANGE },
	{ .what = "says so if a CQ has no room for the messages before and after",
	  .who = CLIENT | RDMA | QUIET | MEASURED | SIZED | ANSWERED,
	  NO_EXCHANGE },
	{ .what = "makes a message of as many pieces as a work request has",
	  .who = CLIENT | SERVER | BLAST,
	  .config = { .max_sge = 3 },
	  .pieces = 3,
	  .words = { WORK, "-q", "--sge", "3" } },
	{ .what = "makes a message of as many pieces as it has bytes, and no more",
	  .who = CLIENT | SERVER | BLAST,
	  .config = { .size = 2, .max_sge = 3 },
	  .pieces = 2,
	  .words = { SIZE(2), "--sge", "3" } },
	{ .what = "receives short messages in cache lines of their own",
	  .who = CLIENT | SERVER | PING,
	  .config = { .size = 1, .own_lines = true },
	  .words = { SIZE(1) } },
	{ .what = "receives short messages in cache lines of their own",
	  .who = SERVER | BLAST,
	  .config = { .size = 1, .own_lines = true },
	  .words = { SIZE(1) } },
	{ .what = "makes a message of a piece too many",
	  .who = CLIENT | BLAST,
	  .config = { .max_sge = 2 },
	  .status = 2,
	  .said = "--sge 3 is more than rxe0 takes: 2",
	  .words = { WORK, "-q", "--sge", "3" } },
	{ .what = "refuses a client whose messages would have a piece too many",
	  .who = SERVER | BLAST,
	  .config = { .max_sge = 2 },
	  .said = "--sge 3 is more than rxe0 takes: 2",
	  .refused = 5,
	  .words = { ADDRESS, "-q", "--sge", "3" } },
	{ .what = "moves messages as long as the port takes",
	  .who = EVERY | SIZED,
	  .config = { .max_message = LINE_SIZE },
	  .words = { SIZE(200) } },
	{ .what = "refuses messages of a byte more than the port takes",
	  .who = SERVER | TWO_SIDED | RDMA | REFUSING | SIZED,
	  .config = { .max_message = LINE_SIZE - 1 },
	  .said = "client refused: -s 200 is more than rxe0 takes: at most 199 bytes",
	  .refused = 3,
	  .limit = 199,
	  .words = { ADDRESS, "-q" } },
	{ .what = "asks for a byte more than the port takes",
	  .who = CLIENT | TWO_SIDED | RDMA | SIZED,
	  .config = { .max_message = LINE_SIZE - 1 },
	  .status = 2,
	  .said = "-s 200 is more than rxe0 takes: at most 199 bytes a message",
	  .words = { SIZE(200) } },
	{ .what = "asks for a byte more than the port takes, and not again at the next address",
	  .who = CLIENT | TWO_SIDED | RDMA | SIZED,
	  .config = { .max_message = LINE_SIZE - 1 },
	  .status = 2,
	  .said = "-s 200 is more than rxe0 takes: at most 199 bytes a message",
	  .words = { TWICE, "-s", "200" } },
	{ .what = "asks for a byte more than the port takes, and not again at the next address",
	  .who = SERVER | PING | BELIEVING,
	  .config = { .max_message = LINE_SIZE - 1 },
	  .status = 2,
	  .said = "-s 200 is more than rxe0 takes: at most 199 bytes a message",
	  .words = { TWICE, "-s", "200" } },
	{ .what = "listens on the second address of a name if no device serves the first",
	  .who = SERVER | TWO_SIDED | RDMA | MANAGED,
	  .config = { .no_device_first = true },
	  .said = "127.0.0.1:12321: no RDMA device serves this address",
	  .done = 1,
	  .words = { TWICE, "-s", "200" } },
	{ .what = "sends a message inline that is as long as was asked for, and granted",
	  .who = CLIENT | PING,
	  .config = { .size = 64, .exact_inline = true },
	  .inlined = LINE_MESSAGES,
	  .words = { SIZE(64) } },
	{ .what = "sends a message inline that is as long as was asked for, of more that was granted",
	  .who = CLIENT | PING,
	  .config = { .size = 64 },
	  .inlined = LINE_MESSAGES,
	  .words = { SIZE(64) } },
	{ .what = "sends nothing inline that is longer than it asked for",
	  .who = CLIENT | PING,
	  .config = { .size = 65 },
	  .inlined = NONE_INLINE,
	  .words = { SIZE(65) } },
	{ .what = "sends nothing inline where that is not to be had",
	  .who = CLIENT | PING,
	  .config = { .size = 1, .max_inline = 63, .exact_inline = true },
	  .inlined = NONE_INLINE,
	  .words = { SIZE(1) } },
	{ .what = "sends nothing inline if none is granted",
	  .who = CLIENT | PING,
	  .config = { .size = 1, .no_inline = true },
	  .inlined = NONE_INLINE,
	  .words = { SIZE(1) } },
	{ .what = "sends a message back inline that is as long as was granted",
	  .who = SERVER | PING,
	  .config = { .size = 64, .max_inline = 64 },
	  .inlined = LINE_MESSAGES,
	  .words = { SIZE(64) } },
	{ .what = "streams messages inline that are as long as it is told",
	  .who = CLIENT | BLAST,
	  .config = { .size = 100, .exact_inline = true },
	  .inlined = LINE_MESSAGES,
	  .words = { SIZE(100), "--inline", "100" } },
	{ .what = "streams no messages inline that are longer than it is told",
	  .who = CLIENT | BLAST,
	  .config = { .size = 101 },
	  .inlined = NONE_INLINE,
	  .words = { SIZE(101), "--inline", "100" } },
	{ .what = "returns credits as soon as a batch of them is due",
	  .who = SERVER | BLAST,
	  .config = { .stranger = true, .hurried = true, .count = 100, .buffers = 16 },
	  .signaled = 100 / 8 + 1, /* a batch is half of the buffers; the last batch is smaller */
	  .inlined = 100 / 8 + 1,
	  .words = { ADDRESS, "-q" } },
	{ 0 },
};

/* The limits that a program may meet. */
static const struct {
	const char *name;
	unsigned int who;
	const char *why_not; /* a program may have no row */
} limits[] = {
	{ "entries of a CQ", EVERY, "" },
	{ "work requests of a queue", EVERY | OWN_RECEIVES, "its receives are a pool's" },
	{ "pieces of a message", CLIENT | SERVER | BLAST, "a message is one piece" },
	{ "bytes of a message", EVERY | SIZED, "all of its messages have one length" },
	{ "inline bytes", CLIENT | PING, "it sends nothing inline, or as the client" },
};

/* Whether a row is about the limit with this number. */
static bool meets(const struct fake_config *config, unsigned int limit)
{
	const bool met[] = {
		config->max_cqe,
		config->max_qp_wr,
		config->max_sge,
		config->max_message,
		config->max_inline || config->no_inline || config->exact_inline,
	};

	return met[limit];
}

/* For each limit that the program may meet there is a row, or a reason. */
void test_boundaries(const struct test *test)
{
	const struct line *line;
	char what[120];
	unsigned int i, rows;
	bool due;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		for (line = edges, rows = 0; line->what; line++)
			rows += line_is_for(line->who, test) && meets(&line->config, i);
		due = line_is_for(limits[i].who, test);
		snprintf(what, sizeof(what), "has %u rows for its limit, %s%s%s", rows,
			 limits[i].name, rows || due ? "" : ": ",
			 rows || due ? "" : limits[i].why_not);
		test_result(test, what, due && !rows ? "there is no row in edges.c" : NULL);
	}
}
