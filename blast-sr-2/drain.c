/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * blast-sr-2: shared by client and agent: takes completions in batches. See blast.h.
 */
#include "blast-sr-2/blast.h"
#include "common/roles.h"
#include "program/measure/run.h"

int our_drain(struct our_control *control, struct our_blast *blast, uint64_t until_ns,
	      int (*take)(struct our_control *control, struct our_blast *blast,
			  const struct our_completion *completion))
{
	struct our_completion completion;
	int ret;

	if (until_ns == UINT64_MAX)
		ret = our_await_completion(control, &completion);
	else
		ret = our_await_time(control, until_ns, &completion);
	if (ret)
		return ret;
	our_histogram_add(&our_run_of(control)->stream.completions_per_poll,
			  1 + (uint64_t)our_completions_at_hand(control));
	ret = take(control, blast, &completion);
	while (!ret && our_completions_at_hand(control)) {
		ret = our_await_completion(control, &completion);
		if (!ret)
			ret = take(control, blast, &completion);
	}
	return ret;
}
