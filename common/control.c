/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Miscellaneous layer: the life of a control structure. See control.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/control.h"
#include "common/report.h"

int our_create_control_struct(const struct our_config *config, enum our_role role,
			      struct our_control **control)
{
	struct our_control *new_control = calloc(1, sizeof(*new_control));

	*control = NULL;
	if (!new_control)
		return our_tell_error(config, "calloc", ENOMEM, NULL);
	new_control->config = config;
	new_control->role = role;
	new_control->n_sge = 1;
	new_control->inline_wanted = OUR_INLINE_WANTED;
	new_control->wait_until_ns = UINT64_MAX;
	new_control->keepalive.due_ns = UINT64_MAX;
	*control = new_control;
	return 0;
}

void our_destroy_control_struct(struct our_control *control)
{
	free(control);
}
