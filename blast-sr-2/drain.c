/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * blast-sr-2: shared by client and agent: takes completions in batches, and counts messages. See
 * blast.h.
 */
#include "blast-sr-2/blast.h"
#include "common/transfer_completion.h"

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
	our_histogram_add(&blast->stream.completions_per_poll,
			  1 + (uint64_t)our_completions_at_hand(control));
	ret = take(control, blast, &completion);
	while (!ret && our_completions_at_hand(control)) {
		ret = our_await_completion(control, &completion);
		if (!ret)
			ret = take(control, blast, &completion);
	}
	return ret;
}

void our_start_counting(struct our_control *control, struct our_blast *blast)
{
	struct our_statistics *statistics = &control->statistics;

	our_statistics_prepare(statistics, control->count, control->data_size);
	our_statistics_add_stream(statistics, &blast->stream);
	our_statistics_want_progress(statistics, control->options->quiet);
	/* Credits come in batches: in a short run, a warm-up would leave nothing to measure. */
	if (control->count <= 4 * (uint64_t)control->n_data_buffers)
		statistics->warm_up = 0;
	our_count_messages(control, 0);
}

void our_count_messages(struct our_control *control, uint64_t messages)
{
	struct our_statistics *statistics = &control->statistics;

	if (!statistics->started_ns && messages >= statistics->warm_up) {
		statistics->warm_up = messages;
		our_statistics_start(statistics);
	}
	if (statistics->started_ns)
		statistics->messages = messages - statistics->warm_up;
}
