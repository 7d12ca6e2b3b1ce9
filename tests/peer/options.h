/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the command line of the independent peer (see peer.c).
 *
 * Contract: included by peer.c alone. Wrong usage ends the process with status 2.
 */
#ifndef PEER_OPTIONS_H
#define PEER_OPTIONS_H

#include "crowd.h"

static __attribute__((noreturn)) void usage(void)
{
	fputs("usage: peer --server|--client [--stage 0|1] [--blast] [--async] [--events] -a ADDR\n"
	      "  [-p PORT] [-c COUNT] [-s SIZE] [-n BUFFERS] [--timeout S] [-v]\n"
	      "  client: [--full] [--raw-private HEX] [--exit-without-disconnect]\n"
	      "    [--one-more] [--leave-after N] [--die-after N] [--rounds N]\n"
	      "    [--send-size N] [--async --die-connecting]\n"
	      "  blast client: [--full] many receives for credits, not three; [--sleep MS] before it\n"
	      "    looks for credits that it lacks\n"
	      "  blast server: [--credit-batch N] [--bad-credit huge|zero|short]\n"
	      "  --one-sided 1|3: the wire of ping-rdma-1 and -2, or of ping-rdma-3; not with --events\n"
	      "  client without manners: --reach honest|write|read|atomic|stale|write-rkey|write-beyond|\n"
	      "    read-rkey|read-beyond: one access to the server's memory, after which it exits 0 if\n"
	      "    it was refused, or honest; --greedy N: sends N at once, says \"sent\", and has no\n"
	      "    receive for an echo; --torn: ends in the middle of a message\n"
	      "  --crowd silent|nonsense|half --window N: see crowd.h\n",
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

static int parse_bad(const char *text)
{
	if (strcmp(text, "huge") && strcmp(text, "zero") && strcmp(text, "short"))
		usage();
	return *text;
}

static void parse(struct peer *p, int argc, char **argv)
{
	const struct option longs[] = {
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
		{ "stage", 1, NULL, 'g' },
		{ "one-sided", 1, NULL, 'o' },
		{ "reach", 1, NULL, 'h' },
		{ "greedy", 1, NULL, 'G' },
		{ "crowd", 1, NULL, 'C' },
		{ "window", 1, NULL, 'w' },
		{ "raw-private", 1, NULL, 'R' },
		{ "credit-batch", 1, NULL, 'b' },
		{ "bad-credit", 1, NULL, 'x' },
		{ "leave-after", 1, NULL, 'l' },
		{ "die-after", 1, NULL, 'd' },
		{ "rounds", 1, NULL, 'r' },
		{ "send-size", 1, NULL, 'S' },
		{ "timeout", 1, NULL, 't' },
		{ "sleep", 1, NULL, 'z' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "a:p:c:s:n:v", longs, NULL)) != -1) {
		if (c == 'a')
			p->addr = optarg;
		else if (c == 'p')
			p->port = optarg;
		else if (c == 'c')
			p->count = number(optarg, 1, UINT64_MAX);
		else if (c == 's')
			p->size = number(optarg, 1, UINT32_MAX);
		else if (c == 'n')
			p->n_buf = number(optarg, 1, MAX_BUFFERS);
		else if (c == 'v')
			p->verbose = 1;
		else if (c == 'g')
			p->stage = (int)number(optarg, 0, 1);
		else if (c == 'o')
			p->one_sided = (int)number(optarg, 1, 3);
		else if (c == 'h')
			p->reach = optarg;
		else if (c == 'G')
			p->greedy = (uint32_t)number(optarg, 1, 256);
		else if (c == 'C')
			p->crowd = optarg;
		else if (c == 'w')
			p->window = number(optarg, 1, UINT32_MAX);
		else if (c == 'R')
			parse_hex(p, optarg);
		else if (c == 'b')
			p->batch = number(optarg, 1, MAX_BUFFERS);
		else if (c == 'x')
			p->bad_credit = parse_bad(optarg);
		else if (c == 't')
			p->timeout = (unsigned int)number(optarg, 1, 86400);
		else if (c == 'z')
			p->sleep_ms = (unsigned int)number(optarg, 0, 1000);
		else if (c == 'l')
			p->leave_after = number(optarg, 0, UINT64_MAX - 1);
		else if (c == 'd')
			p->die_after = number(optarg, 0, UINT64_MAX - 1);
		else if (c == 'S')
			p->send_size = (uint32_t)number(optarg, 1, MAX_SIZE);
		else if (c == 'r')
			p->rounds = number(optarg, 1, 1000000);
		else if (c)
			usage();
	}
	if (optind != argc || p->server == p->client || !p->addr)
		usage();
	if ((p->die_connecting && !p->async) || p->send_size > p->size + CREDIT_LEN)
		usage();
	if (p->crowd && (find_way(p->crowd) == NO_WAY || !p->client))
		usage();
	if (p->reach)
		p->one_sided = 1;
	if (p->greedy || p->torn)
		p->abrupt = 1;
	if (p->blast || p->one_sided || p->greedy || p->torn)
		p->stage = 1;
	if (p->blast && p->n_buf * p->size > MAX_MEMORY)
		die("%" PRIu64 " buffers of %" PRIu64 " bytes are too much", p->n_buf, p->size);
}

#endif
