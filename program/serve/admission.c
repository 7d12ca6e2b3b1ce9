/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The decision to accept or refuse a client. See admission.h. */
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program/options.h"
#include "program/report.h"
#include "program/serve/admission.h"

#define SHARE_OF_MEMORY 4 /* a quarter: the kernel and others need memory, too */

/*
 * glibc takes memory of this size and more from mmap(2), and returns it to the system when it is
 * freed. But with each such free(3) it raises this limit, up to 32 MiB, and then keeps what clients
 * used.
 */
#define RETURNED_BYTES        (128 * 1024)
#define DESCRIPTORS_OF_SERVER 32 /* descriptors that belong to no client */

/* Returns true if RLIMIT_MEMLOCK does not apply to us (CAP_IPC_LOCK): see ibv_reg_mr(3). */
static bool may_lock_everything(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return !syscall(SYS_capget, &header, data) &&
	       data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK);
}

static uint64_t default_memory(void)
{
	uint64_t memory = our_memory_limit() / SHARE_OF_MEMORY;
	struct rlimit locked;

	if (may_lock_everything() || getrlimit(RLIMIT_MEMLOCK, &locked))
		return memory;
	return locked.rlim_cur < memory ? locked.rlim_cur : memory;
}

void our_open_admission(struct our_admission *admission, const struct our_options *options)
{
	mallopt(M_MMAP_THRESHOLD, RETURNED_BYTES); /* once set, glibc does not raise it */
	*admission = (struct our_admission){
		.wanted = options->clients,
		.max_clients = options->max_clients,
		.max_memory = options->max_memory ? options->max_memory : default_memory(),
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
	};
}

void our_limit_clients(struct our_admission *admission, unsigned int descriptors, bool quiet)
{
	struct rlimit limit;
	uint64_t enough;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	enough = 1; /* one, to try; 0 would mean any number */
	if (limit.rlim_cur >= DESCRIPTORS_OF_SERVER + descriptors)
		enough = (limit.rlim_cur - DESCRIPTORS_OF_SERVER) / descriptors;
	if (enough >= admission->max_clients)
		return;
	admission->max_clients = enough;
	if (!quiet)
		our_report_sentence("at most %" PRIu64 " clients at a time: there are descriptors "
				    "for no more (ulimit -Hn)",
				    enough);
}

static bool all_taken(const struct our_admission *admission)
{
	return admission->wanted && admission->places == admission->wanted;
}

int our_admit(struct our_admission *admission, uint64_t memory)
{
	int ret = 0;

	pthread_mutex_lock(&admission->lock);
	if (all_taken(admission))
		ret = EUSERS;
	else if (admission->max_clients && admission->clients == admission->max_clients)
		ret = EBUSY;
	else if (memory > admission->max_memory - admission->memory)
		ret = EDQUOT;
	if (!ret) {
		admission->clients++;
		admission->places++;
		admission->memory += memory;
	}
	pthread_mutex_unlock(&admission->lock);
	return ret;
}

int our_reserve_memory(struct our_admission *admission, uint64_t memory)
{
	int ret = 0;

	pthread_mutex_lock(&admission->lock);
	if (memory > admission->max_memory - admission->memory)
		ret = EDQUOT;
	else
		admission->memory += memory;
	pthread_mutex_unlock(&admission->lock);
	return ret;
}

void our_release_memory(struct our_admission *admission, uint64_t memory)
{
	pthread_mutex_lock(&admission->lock);
	admission->memory -= memory;
	pthread_mutex_unlock(&admission->lock);
}

/* Returns true if the client has caused the error, and nothing is wrong here. */
static bool is_the_clients_doing(int error)
{
	switch (error) {
	case ECONNRESET:   /* The client left. */
	case ECONNREFUSED: /* It changed its mind before we accepted. */
	case ECONNABORTED: /* It died. */
	case ETIMEDOUT:    /* It said nothing. */
	case EHOSTUNREACH: /* Its host is silent, too. */
	case EPROTO:       /* It sent something invalid. */
	case ERANGE:       /* It asked for more than is allowed. */
	case EMSGSIZE:     /* It asked for more than the device can do. */
	case EDQUOT:       /* It asked for more memory than is left. */
	case EUSERS:       /* It came when all clients wanted were there. */
	case EBUSY:        /* It came when as many as allowed were there. */
	case EINTR:        /* It came when we were told to stop. */
		return true;
	default:
		return !error;
	}
}

/* Called with the lock held. */
static void note_failure(struct our_admission *admission, int error)
{
	if (!is_the_clients_doing(error))
		admission->failure = error;
}

void our_note_failure(struct our_admission *admission, int error)
{
	pthread_mutex_lock(&admission->lock);
	note_failure(admission, error);
	pthread_mutex_unlock(&admission->lock);
}

void our_note_acceptance(struct our_admission *admission)
{
	pthread_mutex_lock(&admission->lock);
	admission->accepted++;
	pthread_cond_signal(&admission->changed);
	pthread_mutex_unlock(&admission->lock);
}

void our_note_leave(struct our_admission *admission, uint64_t memory, bool accepted, int error)
{
	pthread_mutex_lock(&admission->lock);
	admission->clients--;
	admission->places -= !accepted;
	admission->memory -= memory;
	note_failure(admission, error);
	pthread_cond_signal(&admission->changed);
	pthread_mutex_unlock(&admission->lock);
}

bool our_await_place(struct our_admission *admission)
{
	bool more;

	pthread_mutex_lock(&admission->lock);
	while (all_taken(admission) && admission->accepted < admission->wanted)
		pthread_cond_wait(&admission->changed, &admission->lock);
	more = !all_taken(admission);
	pthread_mutex_unlock(&admission->lock);
	return more;
}

bool our_all_places_taken(struct our_admission *admission)
{
	bool taken;

	pthread_mutex_lock(&admission->lock);
	taken = all_taken(admission);
	pthread_mutex_unlock(&admission->lock);
	return taken;
}

uint64_t our_memory_left(struct our_admission *admission)
{
	uint64_t left;

	pthread_mutex_lock(&admission->lock);
	left = admission->max_memory - admission->memory;
	pthread_mutex_unlock(&admission->lock);
	return left;
}

int our_close_admission(struct our_admission *admission, int ret)
{
	pthread_mutex_lock(&admission->lock);
	while (admission->clients)
		pthread_cond_wait(&admission->changed, &admission->lock);
	if (admission->failure)
		ret = admission->failure;
	pthread_mutex_unlock(&admission->lock);
	return ret;
}
