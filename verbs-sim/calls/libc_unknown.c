/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: calls that may block, and that are not simulated: the run ends, and names them. Outside a
 * simulated thread they are what they were.
 *
 * The arguments of each fit into registers, whatever their types are, so that one form serves all.
 * Here each has a name of its own, as headers declare some of them.
 */
#include "verbs-sim/calls/call.h"

#define UNKNOWN(name)                                                                       \
	long unknown_##name(long a, long b, long c, long d, long e, long f) __asm__(#name); \
	EXPORTED long unknown_##name(long a, long b, long c, long d, long e, long f)        \
	{                                                                                   \
		long (*real)(long, long, long, long, long, long);                           \
		if (sim_me)                                                                 \
			sim_unknown(#name);                                                 \
		*(void **)&real = dlsym(RTLD_NEXT, #name);                                  \
		return real(a, b, c, d, e, f);                                              \
	}

UNKNOWN(epoll_pwait2)
UNKNOWN(sigwait)
UNKNOWN(sigwaitinfo)
UNKNOWN(sigtimedwait)
UNKNOWN(sigsuspend)
UNKNOWN(wait)
UNKNOWN(waitid)
UNKNOWN(wait4)
UNKNOWN(pthread_barrier_wait)
UNKNOWN(pthread_spin_lock)
UNKNOWN(pthread_timedjoin_np)
UNKNOWN(pthread_clockjoin_np)
UNKNOWN(pthread_mutex_clocklock)
UNKNOWN(pthread_rwlock_timedrdlock)
UNKNOWN(pthread_rwlock_timedwrlock)
UNKNOWN(sem_clockwait)
UNKNOWN(mtx_lock)
UNKNOWN(cnd_wait)
UNKNOWN(thrd_create)
UNKNOWN(thrd_sleep)
UNKNOWN(flock)
UNKNOWN(lockf)
UNKNOWN(mq_receive)
UNKNOWN(mq_send)
UNKNOWN(msgrcv)
UNKNOWN(msgsnd)
UNKNOWN(semop)
UNKNOWN(semtimedop)
UNKNOWN(recvmmsg)
UNKNOWN(sendmmsg)
UNKNOWN(setitimer)
UNKNOWN(timer_create)
UNKNOWN(daemon)
UNKNOWN(vfork)
UNKNOWN(posix_spawn)
UNKNOWN(posix_spawnp)
UNKNOWN(system)
UNKNOWN(popen)
UNKNOWN(io_uring_setup)
UNKNOWN(io_uring_queue_init)
UNKNOWN(io_uring_queue_init_params)
