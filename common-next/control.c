/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The structure of a connection, and time. See our_control.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "private.h"

int our_allocate_control(const struct our_config *config, enum our_role role,
			 struct our_control **control)
{
	struct our_private *private = calloc(1, sizeof(*private));

	*control = NULL;
	if (!private)
		return our_report_error(config, "calloc", ENOMEM, NULL);
	private->head.config = config;
	private->head.role = role;
	private->head.n_sge = 1;
	private->head.read_depth = 1;
	private->keepalive.due_ns = OUR_NEVER;
	*control = &private->head;
	return 0;
}

int our_create_control_struct(const struct our_config *config, enum our_role role,
			      struct our_control **control)
{
	return our_allocate_control(config, role, control);
}

void our_destroy_control_struct(struct our_control *control)
{
	free(our_private(control));
}

struct our_wait_state *our_wait_state(const struct our_control *control)
{
	return &our_private(control)->waiting;
}

uint64_t our_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * OUR_NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t our_end_of_wait(uint64_t seconds)
{
	return seconds ? our_now_ns() + seconds * OUR_NS_PER_S : OUR_NEVER;
}

int our_ms_until(uint64_t until_ns)
{
	uint64_t now_ns, ms;

	if (until_ns == OUR_NEVER)
		return -1;
	now_ns = our_now_ns();
	if (now_ns >= until_ns)
		return 0;
	ms = (until_ns - now_ns) / 1000000 + 1;
	return ms < INT32_MAX ? (int)ms : INT32_MAX;
}
