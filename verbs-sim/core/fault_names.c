/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The argument of --fail, and the names of what may go wrong. See fault.h.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <signal.h>
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
	strncpy(fault->how, name, sizeof(fault->how) - 1);
	fault->kind = SIM_FAULT_REMOVAL;
	if (!strcmp(name, "REMOVAL"))
		return true;
	return find_event(name, fault) || find_number(name, fault);
}

bool sim_read_fault(const char *text, struct sim_fault *fault)
{
	char *end;

	fault->program = (int)strtol(text, &end, 10);
	if (end == text || *end != ':' || fault->program < 0)
		return false;
	text = end + 1;
	fault->call = strtoull(text, &end, 10);
	fault->kind = SIM_FAULT_USUAL;
	if (end == text || !fault->call)
		return false;
	return !*end || (*end == ':' && find_name(end + 1, fault));
}
