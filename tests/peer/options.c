/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the command line of the independent peer (see peer.c).
 *
 * Contract: wrong usage ends the process with status 2.
 */
#include "peer.h"

#define FIRST_NUMBER 256 /* values that getopt_long returns */

static __attribute__((noreturn)) void usage(void)
{
	fputs("usage: peer --server|--client [--stage 0|1] [--blast] [--async] [--events] -a ADDR\n"
	      "  [-p PORT] [-c COUNT] [-s SIZE] [-n BUFFERS] [--timeout S] [-v]\n"
	      "  client: [--full] [--raw-private HEX] [--exit-without-disconnect]\n"
	      "    [--one-more] [--leave-after N] [--die-after N] [--rounds N]\n"
	      "    [--send-size N] [--async --die-connecting]\n"
	      "  blast client: [--full] many receives for credits, not three; [--sleep MS] before it\n"
	      "    looks for credits that it lacks\n"
	      "  blast server: [--credit-batch N]\n"
	      "  --one-sided 1|3|4: the wire of ping-rdma-1 and -2, of ping-rdma-3, or of count-atomic-1 (a\n"
	      "    client only); not with --events\n"
	      "  client without manners: --reach honest|write|read|atomic|stale|write-rkey|write-beyond|\n"
	      "    read-rkey|read-beyond: one access to the server's memory, after which it exits 0 if\n"
	      "    it was refused, or honest; --greedy N: sends N at once, says \"sent\", and has no\n"
	      "    receive for an echo; --torn: ends in the middle of a message\n"
	      "  odd: [--silent-after N] [--announce N] [--depth N] [--rnr-retries N]; server:\n"
	      "    [--leave-after N] [--accept-data BYTES]\n"
	      "    [--refuse [--raw-private HEX]]; one-sided:\n"
	      "    [--short-by BYTES] [--count-off N] [--short-count]; server: --memory KIND, see memory.c;\n"
	      "    --talk listens to the lines of talk-rdma-0, see talk.c\n"
	      "  --crowd silent|nonsense|half --window N: see crowd.c\n",
	      stderr);
	exit(2);
}

static uint64_t number(const char *text, uint64_t low, uint64_t high)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || value < low || value > high) {
		fprintf(stderr, "peer: %s is not a number from %" PRIu64 " to %" PRIu64 "\n", text,
			low, high);
		exit(2);
	}
	return value;
}

static void parse_hex(struct peer *p, const char *text)
{
	size_t len = strlen(text);

	if (len % 2 || len / 2 > sizeof(p->raw_data) ||
	    strspn(text, "0123456789abcdefABCDEF") != len)
		usage();
	for (p->raw_len = 0; p->raw_len < len / 2; p->raw_len++)
		if (sscanf(text + 2 * p->raw_len, "%2hhx", &p->raw_data[p->raw_len]) != 1)
			usage();
	p->raw = true;
}

/* Options whose value is a number, and the letters of those that have one. */
static const struct {
	const char *name;
	size_t at; /* offset of a uint64_t in struct peer */
	uint64_t low, high;
	char letter;
} numbers[] = {
#define NUMBER(name, field, low, high)                           \
	{                                                        \
		name, offsetof(struct peer, field), low, high, 0 \
	}
	{ "count", offsetof(struct peer, count), 1, UINT64_MAX, 'c' },
	{ "size", offsetof(struct peer, size), 1, UINT32_MAX, 's' },
	{ "buffers", offsetof(struct peer, n_buf), 1, MAX_BUFFERS, 'n' },
	NUMBER("stage", stage, 0, 1),
	NUMBER("one-sided", one_sided, 1, 4),
	NUMBER("greedy", greedy, 1, 256),
	NUMBER("window", window, 1, UINT32_MAX),
	NUMBER("credit-batch", batch, 1, MAX_BUFFERS),
	NUMBER("leave-after", leave_after, 0, UINT64_MAX - 1),
	NUMBER("die-after", die_after, 0, UINT64_MAX - 1),
	NUMBER("rounds", rounds, 1, 1000000),
	NUMBER("send-size", send_size, 1, MAX_SIZE),
	NUMBER("timeout", timeout, 1, 86400),
	NUMBER("sleep", sleep_ms, 0, 1000),
	NUMBER("silent-after", silent_after, 0, UINT64_MAX - 1),
	NUMBER("announce", announce, 1, UINT64_MAX),
	NUMBER("depth", depth, 0, 255),
	NUMBER("rnr-retries", rnr_retries, 0, 7),
	NUMBER("accept-data", accept_data, 0, 255),
	NUMBER("short-by", short_by, 0, UINT32_MAX),
	NUMBER("count-off", count_off, 0, UINT64_MAX),
};
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static void parse_number(struct peer *p, size_t i, const char *text)
{
	memcpy((char *)p + numbers[i].at,
	       &(uint64_t){ number(text, numbers[i].low, numbers[i].high) }, sizeof(uint64_t));
}

static void parse_letter(struct peer *p, int letter, const char *text)
{
	for (size_t i = 0; i < NUMBERS; i++) {
		if (numbers[i].letter == letter)
			return parse_number(p, i, text);
	}
	usage();
}

/* Lists the flags and texts first, then the numbers, with zeros at the end. */
static void list_options(struct peer *p, struct option *longs)
{
	const struct option others[] = {
		{ "server", 0, &p->server, 1 },
		{ "client", 0, &p->client, 1 },
		{ "async", 0, &p->async, 1 },
		{ "events", 0, &p->events, 1 },
		{ "blast", 0, &p->blast, 1 },
		{ "full", 0, &p->full, 1 },
		{ "exit-without-disconnect", 0, &p->abrupt, 1 },
		{ "one-more", 0, &p->one_more, 1 },
		{ "torn", 0, &p->torn, 1 },
		{ "die-connecting", 0, &p->die_connecting, 1 },
		{ "verbose", 0, &p->verbose, 1 },
		{ "refuse", 0, &p->refuses, 1 },
		{ "short-count", 0, &p->short_count, 1 },
		{ "talk", 0, &p->talks, 1 },
		{ "reach", 1, NULL, 'h' },
		{ "memory", 1, NULL, 'm' },
		{ "crowd", 1, NULL, 'C' },
		{ "raw-private", 1, NULL, 'R' },
	};
	const size_t n = sizeof(others) / sizeof(others[0]);

	memcpy(longs, others, sizeof(others));
	for (size_t i = 0; i < NUMBERS; i++)
		longs[n + i] = (struct option){ numbers[i].name, 1, NULL, FIRST_NUMBER + (int)i };
}

void parse(struct peer *p, int argc, char **argv)
{
	struct option longs[64] = { 0 };
	int c;

	list_options(p, longs);
	while ((c = getopt_long(argc, argv, "a:p:c:s:n:v", longs, NULL)) != -1) {
		if (c >= FIRST_NUMBER)
			parse_number(p, (size_t)(c - FIRST_NUMBER), optarg);
		else if (c == 'a')
			p->addr = optarg;
		else if (c == 'p')
			p->port = optarg;
		else if (c == 'v')
			p->verbose = 1;
		else if (c == 'h')
			p->reach = optarg;
		else if (c == 'm')
			p->memory = optarg;
		else if (c == 'C')
			p->crowd = optarg;
		else if (c == 'R')
			parse_hex(p, optarg);
		else if (c)
			parse_letter(p, c, optarg);
	}
	if (optind != argc || p->server == p->client || !p->addr)
		usage();
	if ((p->die_connecting && !p->async) || p->send_size > p->size + CREDIT_LEN)
		usage();
	if (p->crowd && (find_way(p->crowd) == NO_WAY || !p->client))
		usage();
	if (p->memory && !find_memory(p->memory))
		usage();
	if (p->reach || p->memory || p->talks)
		p->one_sided = 1;
	if (p->greedy || p->torn)
		p->abrupt = 1;
	if (p->blast || p->one_sided || p->greedy || p->torn)
		p->stage = 1;
	if (p->blast && p->n_buf * p->size > MAX_MEMORY)
		die("%" PRIu64 " buffers of %" PRIu64 " bytes are too much", p->n_buf, p->size);
}
