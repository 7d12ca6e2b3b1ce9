/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * devices --explain: what is printed of codes and causes, and what the steps of --check say of each
 * cause on this machine. See explain.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "devices/check.h"
#include "devices/explain.h"
#include "program/look_up.h"
#include "program/report.h"

#define WIDTH    96
#define SHOWN    4 /* causes of a code, in full; of the others only the titles */
#define FINDINGS 3 /* lines of a file that are explained */

struct explain {
	struct check check;
	struct check_answer answers[CHECK_STEPS];
	const struct explain_cause *told[FINDINGS]; /* of a file */
	size_t n_told;
};

/* Breaks the text into lines, of which the first begins with `head`, all indented alike. */
static void print_wrapped(const char *head, const char *text)
{
	int column, length, indent = (int)strlen(head);

	printf("%s", head);
	for (column = indent; *text; text += length + (text[length] == ' ')) {
		length = (int)strcspn(text, " ");
		if (column > indent && column + length + 1 > WIDTH) {
			printf("\n%*s", indent, "");
			column = indent;
		}
		column += printf("%s%.*s", column > indent ? " " : "", length, text);
	}
	printf("\n");
}

static void print_code(const struct explain_code *code)
{
	const char *text = "";
	char line[EXPLAIN_TEXT];

	if (code->kind == EXPLAIN_WC)
		text = ibv_wc_status_str((enum ibv_wc_status)code->value);
	else if (code->kind == EXPLAIN_ASYNC)
		text = ibv_event_type_str((enum ibv_event_type)code->value);
	else if (code->kind == EXPLAIN_ERRNO)
		text = strerror(code->value);
	snprintf(line, sizeof(line), "%s%s", text, *text && *code->about ? "; " : "");
	snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s%s%s", code->about,
		 *code->remedy ? ". Look at: " : "", code->remedy);
	if (code->kind == EXPLAIN_REASON)
		printf("%s:\n", code->name);
	else
		printf("%s (%d):\n", code->name, code->value);
	print_wrapped("    ", line);
}

/* The answers of the steps that a cause names; true: one of them fails. */
static bool look(const struct explain *explain, const struct explain_cause *cause, bool print)
{
	const struct check_answer *answer;
	bool fails = false;
	char head[40];

	for (answer = explain->answers; answer < explain->answers + CHECK_STEPS; answer++) {
		if (!strstr(cause->check, answer->name) ||
		    (answer->verdict == CHECK_SKIPPED && !explain->check.target))
			continue;
		fails |= answer->verdict == CHECK_FAILS;
		snprintf(head, sizeof(head), "     here:   %-5s  %-10s  ",
			 check_words[answer->verdict], answer->name);
		if (print)
			print_wrapped(head, answer->text);
	}
	return fails;
}

static void print_cause(const struct explain *explain, const struct explain_cause *cause,
			size_t number)
{
	char head[24];

	snprintf(head, sizeof(head), "  %zu. ", number);
	print_wrapped(head, cause->title);
	print_wrapped("     why:    ", cause->about);
	look(explain, cause, true);
	print_wrapped("     remedy: ", cause->remedy);
	printf("     page:   docs/%s\n", cause->page);
	if (*cause->sim)
		print_wrapped("     try:    ", cause->sim);
	else
		print_wrapped("     try:    ", cause->lab);
}

/* Those that a step of --check confirms go first, if they fit not much worse. */
static void confirmed_first(const struct explain *explain, struct explain_rank *ranks, size_t n)
{
	struct explain_rank one;
	size_t i, front = 0;
	int best;

	best = n ? ranks[0].score : 0;
	for (i = 0; i < n; i++) {
		if (2 * ranks[i].score < best || !look(explain, ranks[i].cause, false))
			continue;
		one = ranks[i];
		memmove(&ranks[front + 1], &ranks[front], (i - front) * sizeof(one));
		ranks[front++] = one;
	}
}

/* Returns how many causes there are. */
static size_t print_causes(const struct explain *explain, const struct explain_found *found,
			   const struct explain_code *code)
{
	struct explain_rank ranks[EXPLAIN_CAUSES];
	size_t i, n = explain_rank(found, code, ranks);

	confirmed_first(explain, ranks, n);
	for (i = 0; i < n && i < SHOWN; i++)
		print_cause(explain, ranks[i].cause, i + 1);
	for (; i < n && i < 3 * SHOWN; i++) {
		printf("  %s", i == SHOWN ? "also: " : "      ");
		print_wrapped("", ranks[i].cause->title);
	}
	return n;
}

/* Returns whether anything is known. */
static bool explain_text(const struct explain *explain, const char *text)
{
	struct explain_rank ranks[EXPLAIN_CAUSES];
	struct explain_found found;
	size_t i, n = 0;
	bool known;

	explain_read(&found, text);
	for (i = 0; i < found.n_codes; i++) {
		/* A number that is an errno value without a cause here means something else. */
		known = *found.codes[i]->about || explain_rank(&found, found.codes[i], ranks);
		if (found.bare && !known)
			continue;
		print_code(found.codes[i]);
		n += known;
		if (found.bare)
			print_causes(explain, &found, found.codes[i]);
	}
	if (!found.n_codes && explain_has(&found, "got completion with error"))
		n += printf(
			"libmlx5 prints the completion behind this line, as 16 hexadecimal words: give them, too\n");
	else if (!found.bare)
		n += print_causes(explain, &found, NULL);
	return n;
}

/* The first IPv4 address that the text names. */
static bool find_address(const char *text, char *address, size_t size)
{
	size_t length;

	for (; *text; text += length + (text[length] != '\0')) {
		length = strspn(text, "0123456789.");
		snprintf(address, size, "%.*s", (int)length, text);
		if (inet_pton(AF_INET, address, &(struct in_addr){ 0 }) == 1)
			return true;
	}
	return false;
}

/* ---- Files ---- */

/* What verbs-trace says at its end: "  rnr: the peer of qp1 ...", or its JSON. */
static bool is_accusation(const char *line)
{
	char colon[2];

	return (!strncmp(line, "  ", 2) && sscanf(line, "%*[ ]%*[a-z0-9-]%1[:]", colon) == 1) ||
	       strstr(line, "\"accusation\"");
}

/* Flushes are consequences of an error before, and a disconnect is the normal end. */
static bool is_error(const struct explain_found *found, bool before)
{
	const struct explain_code *code;
	size_t i;

	for (i = 0; i < found->n_codes; i++) {
		code = found->codes[i];
		if (code->kind == EXPLAIN_CM && code->value == RDMA_CM_EVENT_DISCONNECTED)
			continue;
		if (code->kind == EXPLAIN_ERRNO ? code->value != EAGAIN && code->value != EINTR
						: *code->remedy)
			return !before || code->kind != EXPLAIN_WC ||
			       code->value != IBV_WC_WR_FLUSH_ERR;
	}
	return false;
}

/* The likeliest cause of a line, unless it has been told. */
static void explain_line(struct explain *explain, const char *line)
{
	struct explain_rank ranks[EXPLAIN_CAUSES];
	struct explain_found found;
	size_t i, n;

	explain_read(&found, line);
	if (explain->n_told == FINDINGS ||
	    !(is_accusation(line) || is_error(&found, explain->n_told)))
		return;
	n = explain_rank(&found, NULL, ranks);
	confirmed_first(explain, ranks, n);
	for (i = 0; n && i < explain->n_told; i++) {
		if (explain->told[i] == ranks[0].cause)
			return;
	}
	if (n)
		explain->told[explain->n_told++] = ranks[0].cause;
	print_wrapped("", line);
	for (i = 0; i < found.n_codes; i++)
		print_code(found.codes[i]);
	if (n)
		print_cause(explain, ranks[0].cause, 1);
}

static bool explain_file(struct explain *explain, FILE *file)
{
	char line[EXPLAIN_TEXT];

	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		explain_line(explain, line);
	}
	return explain->n_told;
}

int devices_explain(const char *text, const char *address, const char *port)
{
	struct explain explain = { .check = { .port = port } };
	struct addrinfo *addresses = NULL;
	FILE *file = strcmp(text, "-") ? fopen(text, "re") : stdin;
	char named[INET6_ADDRSTRLEN];
	bool known;

	if (!address && find_address(text, named, sizeof(named)))
		address = named;
	explain.check.address = address;
	if (address && our_look_up_addresses(address, port, &addresses))
		return EINVAL;
	explain.check.target = addresses ? addresses->ai_addr : NULL;
	check_all(&explain.check, explain.answers);
	known = file ? explain_file(&explain, file) : explain_text(&explain, text);
	if (!known)
		our_report_sentence("nothing is known about this; docs/README.md says which page "
				    "answers what, and verbs-trace shows each call of a program");
	if (file && file != stdin)
		fclose(file);
	if (explain.check.opened)
		devices_close(&explain.check.devices);
	if (addresses)
		our_free_addresses(addresses);
	return known ? 0 : ENOENT;
}
