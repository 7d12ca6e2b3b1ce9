/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * How a flattened stream is cut: what the device cannot do, it says itself.
 */
#include "blast-sr-2/blast.h"

static int check_device(struct our_control *control, bool is_client)
{
	return 0;
}

/* A completion for each quarter of the buffers. */
static uint64_t signal_every(const struct our_control *control)
{
	return (control->n_data_buffers + 3) / 4;
}

/* Credits come for a quarter, too, or, to who may have no receives for so many messages, for a half. */
static uint64_t credit_batch(const struct our_control *control)
{
	return control->has_extension ? (control->n_data_buffers + 3) / 4
				      : (control->n_data_buffers + 1) / 2;
}
