/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The end of a transfer in a flattened program.
 */
#include <stdlib.h>

#include "common/memory_registration.h"
#include "common/transfer_posting.h"
#include "ping-sr-0/ping.h"

void our_unsetup_transfer(struct our_control *control)
{
	our_unsetup_buffers(control);
	our_unsetup_qp(control);
	if (!IS_CLIENT)
		free(control->transfer);
}
