/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Miscellaneous layer: the life of a control structure. See our_control.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/private.h"

int our_create_control_struct(const struct our_config *config, enum our_role role,
			      struct our_control **control)
{
	struct our_private *one = calloc(1, sizeof(*one));

	*control = NULL;
	if (!one)
		return our_tell_error(config, "calloc", ENOMEM, NULL);
	one->head.config = config;
	one->head.role = role;
	one->head.stop = config->stop;
	one->head.n_sge = 1;
	one->head.inline_wanted = OUR_INLINE_WANTED;
	one->keepalive.due_ns = UINT64_MAX;
	*control = &one->head;
	return 0;
}

void our_destroy_control_struct(struct our_control *control)
{
	free(our_private(control));
}

void our_close_device(struct our_device *device)
{
	struct our_control *one;

	if (!device)
		return;
	while ((one = our_first_of_device(device)))
		our_close(one);
	our_free_device(device);
}
