/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Which clients a flattened server lets in: as many as -n says, and of those all that come at once.
 * What they take is bounded by the longest message alone.
 */
#include <errno.h>

#include "program/admission.h"
#include "program/options.h"

void our_open_admission(struct our_admission *admission, const struct our_options *options)
{
	*admission = (struct our_admission){
		.wanted = options->clients,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
	};
}

void our_limit_clients(struct our_admission *admission, unsigned int descriptors, bool quiet)
{
}

static bool all_taken(const struct our_admission *admission)
{
	return admission->wanted && admission->places == admission->wanted;
}

bool our_await_place(struct our_admission *admission)
{
	return !all_taken(admission);
}

bool our_all_places_taken(struct our_admission *admission)
{
	return all_taken(admission);
}

int our_admit(struct our_admission *admission, uint64_t memory)
{
	if (all_taken(admission))
		return EUSERS;
	admission->places++;
	if (USES_pthread_create) {
		pthread_mutex_lock(&admission->lock);
		admission->clients++;
		pthread_mutex_unlock(&admission->lock);
	}
	return 0;
}

void our_note_leave(struct our_admission *admission, uint64_t memory, bool accepted, int error)
{
	if (USES_pthread_create) {
		pthread_mutex_lock(&admission->lock);
		admission->clients--;
		pthread_cond_signal(&admission->changed);
		pthread_mutex_unlock(&admission->lock);
	}
}

/* Waits until all clients have left. */
int our_end_of_admission(struct our_admission *admission, int ret)
{
	if (USES_pthread_create) {
		pthread_mutex_lock(&admission->lock);
		while (admission->clients)
			pthread_cond_wait(&admission->changed, &admission->lock);
		pthread_mutex_unlock(&admission->lock);
	}
	return ret;
}

/* How it went with a client is said where it happens, and is not the server's exit status. */
void our_note_failure(struct our_admission *admission, int error)
{
}

void our_note_acceptance(struct our_admission *admission)
{
}

int our_take_memory(struct our_admission *admission, uint64_t memory)
{
	return 0;
}

void our_give_memory_back(struct our_admission *admission, uint64_t memory)
{
}
