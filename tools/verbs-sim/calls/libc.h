/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Functions shared by the files that replace the C library, and by the calls of the other two
 * libraries: clocks, descriptors, waiting, signals, and threads that make no call.
 */
#ifndef VERBS_SIM_CALLS_LIBC_H
#define VERBS_SIM_CALLS_LIBC_H
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "verbs-sim/device/device.h"

/* ---- libc_time.c: the times of the clocks when the run begins ---- */

#define SIM_MONOTONIC_NS 1000000000000ull       /* the machine has run for a quarter of an hour */
#define SIM_REALTIME_NS  1700000000000000000ull /* November 2023 */

/* Returns the simulated time at which one of the clocks shows this time. */
uint64_t sim_deadline_at(const struct timespec *time);

/*
 * ---- descriptors.c: descriptors of this program that belong to the simulation ----
 *
 * They are eventfds that are readable while the queue behind them has events, or when a timer has
 * expired. So the real poll(2), select(2) and epoll(7) can say what is ready.
 */

/*
 * Creates a channel that the program knows as `user`: `size` bytes that begin with a struct
 * sim_channel. Returns it, or NULL and errno.
 */
void *sim_open_channel(enum sim_kind kind, size_t size, void *user, bool hidden);

/* Closes a channel. If it is still needed, closes its descriptor, and the rest when the program ends. */
void sim_close_channel(struct sim_channel *channel);

/* Bring all descriptors, or only timers, up to date before a look at what is ready. */
void sim_show_descriptors(void);
void sim_show_timers(void);

/* Returns the channel of a descriptor; NULL: the descriptor is the program's own. */
struct sim_channel *sim_channel_of(int fd);

/* Returns true if the program has made the descriptor nonblocking. */
bool sim_is_nonblocking(int fd);

/* Sleeps until the channel has an event, which it returns; NULL and errno: EAGAIN, or EINTR. */
struct sim_event *sim_await_event(struct sim_channel *channel, int fd);

/* Forget the timer or socket of a descriptor that is closed, if it has one. */
void sim_forget_timer(int fd);
void sim_forget_socket(int fd);

/*
 * Returns true if data written to this descriptor is lost: TCP accepts the first data for a peer
 * that has closed its end, and the peer answers with a reset. Only later data fails.
 */
bool sim_is_lost(int fd);

/*
 * ---- files.c: descriptors that a simulated driver answers for ----
 *
 * There are none where libibverbs and librdmacm are replaced.
 */

struct sim_file;

/*
 * Each member carries out the call of its name, and returns the call's result, with errno. NULL:
 * the kernel does it, with the real descriptor. `close` also closes the real descriptor, and frees
 * the file.
 */
struct sim_file_ops {
	ssize_t (*read)(struct sim_file *file, void *buf, size_t count);
	ssize_t (*write)(struct sim_file *file, const void *buf, size_t count);
	int (*ioctl)(struct sim_file *file, unsigned long request, void *argument);
	ssize_t (*sendmsg)(struct sim_file *file, const struct msghdr *message);
	ssize_t (*recvmsg)(struct sim_file *file, struct msghdr *message);
	void (*close)(struct sim_file *file);
};

/* The head of a driver's record of a descriptor, in the memory of the program. */
struct sim_file {
	const struct sim_file_ops *ops;
	int fd;
	const struct sim_program *owner; /* the program that has opened it */
	int copies;                      /* descriptors besides the first */
	dev_t number;                    /* its number, for a device file; 0: it is none */
};

/* From now on calls with this descriptor go to the driver. */
void sim_add_file(struct sim_file *file, int fd, const struct sim_file_ops *ops);

/* Notes that `copy`, if not -1, is a duplicate of a descriptor, whether or not a driver answers for it. */
void sim_copy_file(int fd, int copy);

/* Returns the file of this descriptor; NULL: no driver answers for it. */
struct sim_file *sim_file_of(int fd);

/* Closes a driver's descriptor. Returns false if no driver answers for it. */
bool sim_close_file(int fd);

/* The simulated kernel's part in calls of libc. Each is NULL where the libraries are replaced. */
struct sim_hooks {
	/*
	 * Opens a file of the kernel for reading, or a device: returns its descriptor, or -1 and
	 * errno; -2: the path is none of the kernel's.
	 */
	int (*open)(const char *path);

	/* Does the same for a netlink socket. */
	int (*open_netlink)(int type, int protocol);

	/*
	 * Called for the spin lock of a queue that a library shares with its driver: when the
	 * library initializes the lock; before it takes the lock, where the function returns
	 * whether other threads may have run; and after it has given the lock back.
	 */
	void (*init_spin_lock)(const void *lock);
	bool (*before_spin_lock)(const void *lock);
	void (*behind_spin_unlock)(const void *lock);

	/* Returns true if the kernel has a command of this name. */
	bool (*is_command)(const char *name);
};
extern struct sim_hooks sim_hooks;

/*
 * ---- libc_names.c: addresses of sockets as names of UNIX-domain sockets ----
 *
 * A listener's name is its family and port. A client's has both ends of the connection, so that the
 * server can say who it is. Each returns the length of the name.
 */
socklen_t sim_name_listener(struct sockaddr_un *name, int family, in_port_t port);
socklen_t sim_name_client(struct sockaddr_un *name, const struct sockaddr_storage *own,
			  const struct sockaddr_storage *peer);

/* Finds a client's two addresses in its name. Returns false if the name is not a client's. */
bool sim_read_client(const struct sockaddr_un *name, struct sockaddr_storage *own,
		     struct sockaddr_storage *peer);

/* Returns the size of an address, from its family. */
socklen_t sim_size_of(const struct sockaddr_storage *address);

/* ---- libc_poll.c: waiting for descriptors, for other calls than poll(2) ---- */

/* Does as poll(2), until a simulated time. */
int sim_poll(struct pollfd *fds, nfds_t nfds, uint64_t deadline_ns);

/*
 * ---- libc_locks.c ----
 *
 * The first sleeps until the lock may be free, as sim_block does; the second wakes those threads.
 * Once a program has made a lock that processes share, a change of any lock wakes all who sleep for
 * one: two processes may know it by two addresses.
 */
bool sim_block_on_lock(const void *lock, uint64_t deadline_ns);
void sim_wake_lock(const void *lock);

/* The value that the functions of threads.h return for an errno value. */
int sim_c11(int error);

/*
 * Takes a mutex. Returns 0, ETIMEDOUT after the deadline, or what pthread_mutex_trylock(3) returns
 * other than EBUSY.
 */
int sim_lock_until(pthread_mutex_t *mutex, uint64_t deadline_ns);

/*
 * ---- libc_files.c ----
 *
 * Notes which files are the standard streams of a program that this run has started.
 */
void sim_learn_streams(struct sim_program *program);

/* ---- signals.c: a handler runs in a call of the thread that gets the signal, in its turn ---- */

/* Enters the thread's signal mask into the world. */
void sim_learn_mask(void);

/*
 * For ppoll(2) and the like: replaces the mask while the thread sleeps. If `mask` is NULL, both do
 * nothing.
 */
void sim_swap_mask(const sigset_t *mask, sigset_t *saved);
void sim_restore_mask(const sigset_t *mask, const sigset_t *saved);

/* ---- libc_memory.c: the program itself ---- */

/* Returns true if this address is in the program's own code, not in a library. */
bool sim_is_program(uintptr_t place);

/* Returns the program's own code, which the caller must not free. */
const uint8_t *sim_program_code(size_t *size);

/* ---- claims.c: claims by verbs-sim/verbs_sim.h; returns false if the ioctl is not one ---- */
bool sim_hear_claim(unsigned long request, const void *argument);

/* ---- spin.c: loops that wait for memory to change, and make no call ---- */

/*
 * From now on this thread loses its turn when it has run for a few milliseconds, and has made no
 * call, inside the program's own code: it sleeps for a moment, or until a peer writes to its
 * memory. Nothing else changes for a loop that only reads memory, whenever it is interrupted. Call
 * once in each thread.
 */
void sim_interrupt_spinning(void);

/*
 * The number of streams that this thread has locked. It is not interrupted while it holds any,
 * because a printf(3) of another thread would wait for it in reality, and keep the turn.
 */
extern __thread int sim_locked_streams;

/* ---- tsc.c: the processor's counter, which perftest reads in place of a clock ---- */

/*
 * From now on the counter shows simulated time in this thread, and in those that it creates: a tick
 * is a nanosecond of CLOCK_MONOTONIC. Not before the program has opened a device, as the kernel
 * keeps the setting over execve(2), and a dynamic linker may read the counter. If it shows real
 * time all the same, and the program seems to read it, the end of the run says so.
 */
void sim_simulate_tsc(void);

/*
 * Shows this thread, and the program that it executes, the real counter, or hides it again. The
 * dynamic linker of Debian 13 reads the counter before our library is there, and nothing would
 * handle the signal. Does nothing if the counter is not simulated.
 */
void sim_show_tsc(bool shown);

#endif
