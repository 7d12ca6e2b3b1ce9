/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * devices --explain: the codes in a text, by name, by what the libraries call them, or by number. See
 * explain.h.
 */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "devices/explain.h"

#define NOT_A_NUMBER INT32_MIN

/* Small letters, digits and _, and a minus before a digit; all else is one blank. */
static void simplify(char *simple, size_t size, const char *text)
{
	size_t length = 0;
	bool kept;

	simple[length++] = ' ';
	for (; *text && length + 2 < size; text++) {
		kept = isalnum((unsigned char)*text) || *text == '_' ||
		       (*text == '-' && isdigit((unsigned char)text[1]) &&
			simple[length - 1] == ' ');
		if (kept)
			simple[length++] = (char)tolower((unsigned char)*text);
		else if (simple[length - 1] != ' ')
			simple[length++] = ' ';
	}
	if (simple[length - 1] != ' ')
		simple[length++] = ' ';
	simple[length] = '\0';
}

/* Where the phrase begins in the text, with the blank before it; `whole`: and ends with a word. */
static const char *find(const struct explain_found *found, const char *phrase, bool whole)
{
	char simple[EXPLAIN_TEXT];

	simplify(simple, sizeof(simple), phrase);
	if (!simple[1])
		return NULL;
	if (!whole)
		simple[strlen(simple) - 1] = '\0';
	return strstr(found->text, simple);
}

bool explain_has(const struct explain_found *found, const char *phrase)
{
	return find(found, phrase, false);
}

bool explain_has_call(const struct explain_found *found)
{
	const char *at = found->text;

	while ((at = strpbrk(at, " "))) {
		at++;
		if ((!strncmp(at, "ibv_", 4) && strncmp(at, "ibv_wc_", 7) &&
		     strncmp(at, "ibv_event_", 10)) ||
		    (!strncmp(at, "rdma_", 5) && strncmp(at, "rdma_cm_event", 13)))
			return true;
	}
	return false;
}

/* The number behind a word of the text. */
static int number_behind(const struct explain_found *found, const char *word)
{
	const char *at = find(found, word, true);
	long number;
	char *end;

	if (!at)
		return NOT_A_NUMBER;
	at += strlen(word) + 2;
	number = strtol(at, &end, 0);
	return end != at && *end == ' ' ? (int)number : NOT_A_NUMBER;
}

static void add(struct explain_found *found, const struct explain_code *code)
{
	size_t i;

	for (i = 0; i < found->n_codes; i++) {
		if (found->codes[i] == code)
			return;
	}
	if (code && found->n_codes < EXPLAIN_CODES)
		found->codes[found->n_codes++] = code;
}

static const struct explain_code *code_of(enum explain_kind kind, int value)
{
	const struct explain_code *code;

	for (code = explain_codes; code->name; code++) {
		if (code->kind == kind && code->value == value)
			return code;
	}
	return NULL;
}

/*
 * "IBV_WC_X" is also written X, and "RDMA_CM_EVENT_X" by verbs-trace: X, in capitals, as it is an
 * ordinary word.
 */
static bool is_named(const struct explain_found *found, const char *raw,
		     const struct explain_code *code)
{
	static const char *const prefixes[] = { "IBV_WC_", "RDMA_CM_EVENT_", "IBV_EVENT_", "", "" };
	const char *bare = code->name + strlen(prefixes[code->kind]);
	const char *at;

	if (code->kind == EXPLAIN_REASON)
		return false;
	if (find(found, code->name, true))
		return true;
	if (code->kind == EXPLAIN_ERRNO || !strcmp(bare, "SUCCESS"))
		return false;
	if (strchr(bare, '_') || !strcasecmp(raw, bare))
		return find(found, bare, true);
	at = strstr(raw, bare);
	return at && (at == raw || !(isalnum((unsigned char)at[-1]) || at[-1] == '_')) &&
	       !isalnum((unsigned char)at[strlen(bare)]);
}

/* By name, or by the text of ibv_wc_status_str or strerror. */
static void find_names(struct explain_found *found, const char *raw)
{
	const struct explain_phrase *phrase;
	const struct explain_code *code;

	for (code = explain_codes; code->name; code++) {
		if (is_named(found, raw, code) ||
		    (code->kind == EXPLAIN_WC && code->value &&
		     find(found, ibv_wc_status_str((enum ibv_wc_status)code->value), true)) ||
		    (code->kind == EXPLAIN_ASYNC &&
		     find(found, ibv_event_type_str((enum ibv_event_type)code->value), true)) ||
		    (code->kind == EXPLAIN_ERRNO && find(found, strerror(code->value), true)))
			add(found, code);
	}
	for (phrase = explain_phrases; phrase->phrase; phrase++) {
		if (find(found, phrase->phrase, true)) /* "rnr", but not "rnr_retry_count" */
			add(found, code_of(EXPLAIN_WC, phrase->status));
	}
}

/* The status of an event: a reason, or a negative errno value. */
static void find_event_status(struct explain_found *found, int event)
{
	static const char *const behind[] = { "status", "error", "reason" };
	const char *name = code_of(EXPLAIN_CM, event)->name;
	const struct explain_code *reason;
	int number = number_behind(found, name);
	size_t i;

	for (i = 0; i < 3 && number == NOT_A_NUMBER; i++)
		number = number_behind(found, behind[i]);
	reason = event == RDMA_CM_EVENT_REJECTED ? code_of(EXPLAIN_REASON, number) : NULL;
	for (i = 0; reason && i < found->n_codes; i++) {
		if (found->codes[i]->kind == EXPLAIN_CM)
			found->codes[i] = reason; /* which says more */
	}
	if (!reason && number < 0 && number != NOT_A_NUMBER)
		add(found, code_of(EXPLAIN_ERRNO, -number));
}

/* Adapters of one maker report these beside the status; the list is short because few are documented. */
static void find_vendor_error(struct explain_found *found)
{
	static const char *const behind[] = { "vendor err", "vendor_err", "vend", "syndrom",
					      "vendor syndrome" };
	const struct explain_phrase *phrase;
	char text[32];
	size_t i;

	for (i = 0; i < sizeof(behind) / sizeof(behind[0]); i++) {
		snprintf(text, sizeof(text), "vendor err %d", number_behind(found, behind[i]));
		for (phrase = explain_phrases; phrase->phrase; phrase++) {
			if (!strcmp(phrase->phrase, text))
				add(found, code_of(EXPLAIN_WC, phrase->status));
		}
	}
}

/* libmlx5 prints a completion in error as 16 words; the third last has both syndromes. */
static void find_mlx5_dump(struct explain_found *found)
{
	static const struct {
		unsigned int syndrome;
		enum ibv_wc_status status;
	} known[] = {
		{ 0x01, IBV_WC_LOC_LEN_ERR },    { 0x02, IBV_WC_LOC_QP_OP_ERR },
		{ 0x04, IBV_WC_LOC_PROT_ERR },   { 0x05, IBV_WC_WR_FLUSH_ERR },
		{ 0x06, IBV_WC_MW_BIND_ERR },    { 0x10, IBV_WC_BAD_RESP_ERR },
		{ 0x11, IBV_WC_LOC_ACCESS_ERR }, { 0x12, IBV_WC_REM_INV_REQ_ERR },
		{ 0x13, IBV_WC_REM_ACCESS_ERR }, { 0x14, IBV_WC_REM_OP_ERR },
		{ 0x15, IBV_WC_RETRY_EXC_ERR },  { 0x16, IBV_WC_RNR_RETRY_EXC_ERR },
		{ 0x22, IBV_WC_REM_ABORT_ERR },
	};
	const char *at = find(found, "got completion with error", true);
	unsigned int words[16];
	size_t i, n;
	int length;

	if (!at)
		return;
	at += strlen(" got completion with error");
	for (n = 0; n < 16 && sscanf(at, "%8x%n", &words[n], &length) == 1; n++)
		at += length;
	for (i = 0; i < sizeof(known) / sizeof(known[0]) && n >= 14; i++) {
		if (known[i].syndrome == (words[13] & 0xff))
			add(found, code_of(EXPLAIN_WC, known[i].status));
	}
}

/* What is only a number: a status of a completion, an errno value, or a reason. */
static bool find_bare_number(struct explain_found *found)
{
	char *end;
	long number = strtol(found->text, &end, 0);

	if (end == found->text || strcmp(end, " ") || number < -200 || number > 200)
		return false;
	add(found, code_of(EXPLAIN_WC, (int)number));
	add(found, code_of(EXPLAIN_ERRNO, abs((int)number)));
	add(found, code_of(EXPLAIN_REASON, (int)number));
	found->bare = true;
	return true;
}

static void find_errno(struct explain_found *found)
{
	static const char *const behind[] = { "errno",   "error", "failed", "with", "returned",
					      "returns", "ret",   "rc",     "code" };
	size_t i;
	int number;

	for (i = 0; i < sizeof(behind) / sizeof(behind[0]); i++) {
		number = number_behind(found, behind[i]);
		if (number != NOT_A_NUMBER && number != -1 && number)
			add(found, code_of(EXPLAIN_ERRNO, abs(number)));
	}
}

/* "status 12", unless it may be that of a program. */
static void find_status(struct explain_found *found)
{
	static const char *const about[] = { "completion", "wr_id", "wc", "cq", "failed status" };
	int status = number_behind(found, "status");
	bool of_completion = !strncmp(found->text, " status ", 8);
	size_t i;

	for (i = 0; i < sizeof(about) / sizeof(about[0]); i++)
		of_completion |= explain_has(found, about[i]);
	if (of_completion && status > 0)
		add(found, code_of(EXPLAIN_WC, status));
}

void explain_read(struct explain_found *found, const char *text)
{
	size_t i, named;

	memset(found, 0, sizeof(*found));
	simplify(found->text, sizeof(found->text), text);
	if (find_bare_number(found))
		return;
	find_names(found, text);
	find_vendor_error(found);
	find_mlx5_dump(found);
	named = found->n_codes;
	for (i = 0; i < named; i++) {
		if (found->codes[i]->kind == EXPLAIN_CM)
			find_event_status(found, found->codes[i]->value);
	}
	if (!named)
		find_status(found);
	if (!found->n_codes)
		find_errno(found);
}
