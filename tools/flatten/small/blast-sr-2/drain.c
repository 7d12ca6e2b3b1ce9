/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A flattened stream takes one completion at a time.
 */
#include "blast-sr-2/blast.h"
#include "common/stage.h"
#include "common/transfer_completion.h"

int our_drain(struct our_control *control, uint64_t until_ns,
	      int (*take)(struct our_control *control, const struct our_completion *completion))
{
	struct our_completion completion;
	int ret;

	if (until_ns == UINT64_MAX)
		ret = our_await_completion(control, &completion);
	else
		ret = our_await_time(control, until_ns, &completion);
	return ret ? ret : take(control, &completion);
}
