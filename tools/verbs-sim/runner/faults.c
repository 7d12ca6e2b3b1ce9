/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The arguments of --fail and --sweep, and the names of faults. See runner.h.
 */
#include <dlfcn.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/device/disturbances.h"
#include "verbs-sim/runner/runner.h"

/* Names from libibverbs; libc has those of errors and signals. */
static const struct {
	const char *name;
	enum sim_fault_kind kind;
	int value, status;
} names[] = {
	{ "REMOVAL", SIM_FAULT_REMOVAL, 0, 0 },
	{ "SILENCE", SIM_FAULT_DISTURBANCE, SIM_SILENT, 0 },
	{ "PARTITION", SIM_FAULT_DISTURBANCE, SIM_APART, 0 },
	{ "LOSSY", SIM_FAULT_DISTURBANCE, SIM_LOSSY, 0 },
	{ "PORT_DOWN", SIM_FAULT_DISTURBANCE, SIM_DOWN, 0 },
	{ "PORT_UP", SIM_FAULT_PORT_UP, SIM_DOWN, 0 },
	{ "GID_MOVE", SIM_FAULT_DISTURBANCE, SIM_NO_GID, 0 },
	{ "FULL", SIM_FAULT_FULL, 0, 0 },
#define EVENT(which)  .name = #which, .kind = SIM_FAULT_ASYNC, .value = IBV_EVENT_##which
#define STATUS(which) .name = #which, .kind = SIM_FAULT_STATUS, .value = IBV_WC_##which
#define CM(which, its_status)                                                    \
	.name = #which, .kind = SIM_FAULT_EVENT, .value = RDMA_CM_EVENT_##which, \
	.status = (its_status)
	{ EVENT(DEVICE_FATAL) },
	{ EVENT(PORT_ERR) },
	{ EVENT(PORT_ACTIVE) },
	{ EVENT(GID_CHANGE) },
	{ EVENT(LID_CHANGE) },
	{ EVENT(CQ_ERR) },
	{ EVENT(QP_FATAL) },
	{ EVENT(QP_REQ_ERR) },
	{ EVENT(QP_ACCESS_ERR) },
	{ EVENT(SQ_DRAINED) },
	{ EVENT(SRQ_ERR) },
	{ STATUS(LOC_LEN_ERR) },
	{ STATUS(LOC_QP_OP_ERR) },
	{ STATUS(LOC_PROT_ERR) },
	{ STATUS(WR_FLUSH_ERR) },
	{ STATUS(REM_INV_REQ_ERR) },
	{ STATUS(REM_ACCESS_ERR) },
	{ STATUS(REM_OP_ERR) },
	{ STATUS(RNR_RETRY_EXC_ERR) },
	{ STATUS(RETRY_EXC_ERR) },
	{ STATUS(GENERAL_ERR) },
	{ CM(ADDR_ERROR, -ENODEV) },
	{ CM(ADDR_CHANGE, 0) },
	{ CM(ROUTE_ERROR, -EHOSTUNREACH) },
	{ CM(CONNECT_ERROR, -EPROTO) },
	{ CM(UNREACHABLE, -ETIMEDOUT) },
	{ CM(REJECTED, 28) },
	{ CM(DISCONNECTED, 0) },
	{ CM(DEVICE_REMOVAL, 0) },
	{ CM(TIMEWAIT_EXIT, 0) },
	{ CM(MULTICAST_ERROR, -ENETRESET) },
#define CHANGE(which) .name = #which, .kind = SIM_FAULT_CHANGE, .value = SIM_CHANGE_##which
	{ CHANGE(FLIP) },
	{ CHANGE(ZERO) },
	{ CHANGE(ONES) },
	{ CHANGE(MORE) },
	{ CHANGE(SHORT) },
	{ CHANGE(LONG) },
};

static bool read_status(const char *text, int *status)
{
	int number;
	char *end;

	*status = (int)strtol(text, &end, 10);
	if (end != text)
		return !*end;
	for (number = 1; number < 256; number++) {
		*status = -number;
		if (strerrorname_np(number) && !strcmp(strerrorname_np(number), text))
			return true;
	}
	return false;
}

static bool read_offset(const char *text, uint32_t *offset)
{
	unsigned long number;
	char *end;

	number = strtoul(text, &end, 10);
	*offset = (uint32_t)number;
	return *text >= '0' && *text <= '9' && !*end && number < UINT32_MAX;
}

/* A name of a device does not begin with a digit. */
static bool read_device(const char *word, struct sim_fault *fault)
{
	snprintf(fault->device, sizeof(fault->device), "%s", word);
	return *word && (*word < '0' || *word > '9');
}

/* Reads a word of a disturbance: its duration, as 2s; how many messages, or a program; or a device. */
static bool read_word(const char *word, bool counts, struct sim_fault *fault)
{
	double number;
	char *end;

	if (*word < '0' || *word > '9')
		return read_device(word, fault) && !counts && fault->value != SIM_SILENT;
	number = strtod(word, &end);
	if (!strcmp(end, "s"))
		fault->duration_ns = (uint64_t)(number * 1e9);
	else if (counts)
		fault->amount = (uint32_t)number;
	if (*end)
		return !strcmp(end, "s") && fault->duration_ns && fault->kind != SIM_FAULT_PORT_UP;
	return counts;
}

/* Reads the words of a disturbance, each behind a slash. */
static bool read_disturbance(const char *text, struct sim_fault *fault)
{
	bool lossy = fault->value == SIM_LOSSY, counts = lossy || fault->value == SIM_APART;
	char words[sizeof(fault->text)], *rest = words, *word;

	snprintf(words, sizeof(words), "%s", text);
	fault->amount = lossy ? 0 : counts ? SIM_MOST_PROGRAMS : 0;
	while (*text && (word = strsep(&rest, "/"))) {
		if (!read_word(word, counts, fault))
			return false;
	}
	return lossy ? fault->amount : !counts || fault->amount < SIM_MOST_PROGRAMS;
}

/*
 * Reads what follows the name: an offset; the status of an event, a number or an error; the device of
 * an asynchronous event; or the words of a disturbance.
 */
static bool read_detail(const char *text, struct sim_fault *fault)
{
	bool has_offset = fault->kind == SIM_FAULT_CHANGE && fault->value != SIM_CHANGE_SHORT &&
			  fault->value != SIM_CHANGE_LONG;

	if (fault->kind == SIM_FAULT_DISTURBANCE || fault->kind == SIM_FAULT_PORT_UP)
		return read_disturbance(*text ? text + 1 : text, fault);
	if (!*text)
		return !has_offset;
	if (has_offset)
		return read_offset(text + 1, &fault->offset);
	if (fault->kind == SIM_FAULT_ASYNC)
		return read_device(text + 1, fault);
	return fault->kind == SIM_FAULT_EVENT && read_status(text + 1, &fault->status);
}

/* Reads NAME or NAME=DETAIL. */
static bool find_event(const char *name, struct sim_fault *fault)
{
	size_t i, length = strcspn(name, "=");

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strncmp(names[i].name, name, length) || names[i].name[length])
			continue;
		fault->kind = names[i].kind;
		fault->value = names[i].value;
		fault->status = names[i].status;
		return read_detail(name + length, fault);
	}
	return false;
}

static bool find_number(const char *name, struct sim_fault *fault)
{
	int number;

	for (number = 1; number < 256; number++) {
		fault->value = number;
		fault->kind = SIM_FAULT_ERROR;
		if (strerrorname_np(number) && !strcmp(strerrorname_np(number), name))
			return true;
		fault->kind = SIM_FAULT_SIGNAL;
		if (number < 32 && sigabbrev_np(number) && !strncmp(name, "SIG", 3) &&
		    !strcmp(sigabbrev_np(number), name + 3))
			return true;
	}
	return false;
}

static bool find_name(const char *name, struct sim_fault *fault)
{
	snprintf(fault->how, sizeof(fault->how), "%s", name);
	if (!strcmp(name, "0")) {
		fault->kind = SIM_FAULT_ERROR;
		fault->value = SIM_UNSAID;
		return true;
	}
	return find_event(name, fault) || find_number(name, fault);
}

/* Reads the name of a call, if there is one, and returns the rest. */
static const char *read_call(const char *text, struct sim_fault *fault)
{
	const char *end = strchr(text, ':');

	if (!end || (*text >= '0' && *text <= '9'))
		return text;
	snprintf(fault->call, sizeof(fault->call), "%.*s", (int)(end - text), text);
	return end + 1;
}

bool sim_read_fault(const char *argument, struct sim_fault *fault)
{
	const char *text = fault->text;
	char *end;

	*fault = (struct sim_fault){ .kind = SIM_FAULT_USUAL };
	snprintf(fault->text, sizeof(fault->text), "%s", argument);
	fault->program = (int)strtol(text, &end, 10);
	if (end == text || *end != ':' || fault->program < 0 || fault->program >= SIM_MOST_PROGRAMS)
		return false;
	text = read_call(end + 1, fault);
	fault->number = strtoull(text, &end, 10);
	if (end == text || !fault->number)
		return false;
	if (*end && (*end != ':' || !find_name(end + 1, fault)))
		return false;
	/* On RoCE a group, once joined, stays joined. */
	if (fault->kind == SIM_FAULT_EVENT && fault->value == RDMA_CM_EVENT_MULTICAST_ERROR &&
	    !strcasestr(fault->call, "join"))
		return false;
	return (fault->kind == SIM_FAULT_CHANGE) == !strcmp(fault->call, SIM_MESSAGE);
}

bool sim_is_of_host(const struct sim_fault *fault)
{
	return fault->kind == SIM_FAULT_ASYNC || fault->kind == SIM_FAULT_REMOVAL ||
	       fault->kind == SIM_FAULT_DISTURBANCE || fault->kind == SIM_FAULT_PORT_UP;
}

bool sim_counts_call(const char *path, const char *name)
{
	void *library = dlopen(path, RTLD_LAZY);
	bool (*counts)(const char *name) = NULL;

	if (library)
		*(void **)&counts = dlsym(library, "sim_counts");
	return counts && counts(name);
}

bool sim_read_sweep(const char *sweep, unsigned long long call, struct sim_fault *fault)
{
	size_t side = strcspn(sweep, ":");
	char text[sizeof(fault->text)];

	snprintf(text, sizeof(text), "%.*s:%llu%s", (int)side, sweep, call, sweep + side);
	return sim_read_fault(text, fault);
}

bool sim_sweeps_messages(const char *sweep, struct sim_fault *fault)
{
	size_t length = strlen(sweep), word = strlen(":" SIM_MESSAGE);
	bool all = length > word && !strcmp(sweep + length - word, ":" SIM_MESSAGE);
	char text[sizeof(fault->text)];

	snprintf(text, sizeof(text), "%s%s:SHORT", sweep, all ? ":1" : "");
	return sim_read_fault(text, fault);
}
