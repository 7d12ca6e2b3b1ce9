/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The argument of --fail, and the names of what may go wrong. See fault.h.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/core/fault.h"

/* Those of libibverbs; errors and signals are named by libc. */
static const struct {
	const char *name;
	enum sim_fault_kind kind;
	int value;
} names[] = {
#define EVENT(which)  .name = #which, .kind = SIM_FAULT_ASYNC, .value = IBV_EVENT_##which
#define STATUS(which) .name = #which, .kind = SIM_FAULT_STATUS, .value = IBV_WC_##which
	{ EVENT(DEVICE_FATAL) },       { EVENT(PORT_ERR) },        { EVENT(PORT_ACTIVE) },
	{ EVENT(GID_CHANGE) },         { EVENT(LID_CHANGE) },      { STATUS(LOC_LEN_ERR) },
	{ STATUS(LOC_QP_OP_ERR) },     { STATUS(LOC_PROT_ERR) },   { STATUS(WR_FLUSH_ERR) },
	{ STATUS(REM_INV_REQ_ERR) },   { STATUS(REM_ACCESS_ERR) }, { STATUS(REM_OP_ERR) },
	{ STATUS(RNR_RETRY_EXC_ERR) }, { STATUS(RETRY_EXC_ERR) },  { STATUS(GENERAL_ERR) },
};

static bool find_event(const char *name, struct sim_fault *fault)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i].name, name))
			continue;
		fault->kind = names[i].kind;
		fault->value = names[i].value;
		return true;
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
	fault->kind = SIM_FAULT_REMOVAL;
	if (!strcmp(name, "REMOVAL"))
		return true;
	return find_event(name, fault) || find_number(name, fault);
}

/* Reads the name of a call, if there is one, and returns what is behind it. */
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
	if (end == text || *end != ':' || fault->program < 0)
		return false;
	text = read_call(end + 1, fault);
	fault->number = strtoull(text, &end, 10);
	if (end == text || !fault->number)
		return false;
	return !*end || (*end == ':' && find_name(end + 1, fault));
}
