/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: reading and writing pipes, sockets and eventfds. The kernel moves the data; a call that
 * would block sleeps in the simulation first, and one that changes something wakes those that wait
 * for a descriptor.
 *
 * A program may write while it holds the lock of a stdio stream, which the simulation does not see.
 * So no other thread goes on at a write, unless the write has to wait.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"

void sim_learn_streams(struct sim_program *program)
{
	struct stat file;
	int fd;

	for (fd = 0; fd <= STDERR_FILENO; fd++) {
		if (fstat(fd, &file))
			continue;
		program->streams[fd][0] = file.st_dev;
		program->streams[fd][1] = file.st_ino;
	}
}

/* The standard streams of a forked program may be pipes to its parent. */
static bool is_standard(int fd)
{
	return fd <= STDERR_FILENO && !sim_me->program->forked;
}

/*
 * Standard input and output lead out of the simulation: their other end answers in real time, or
 * between two steps of the run. The same holds for a copy of their descriptor, which verbs-trace has.
 */
static bool leads_out(int fd, const struct stat *file)
{
	const struct sim_program *program = sim_me->program;
	int i;

	if (sim_world->steps)
		return false;
	for (i = 0; i <= STDERR_FILENO; i++) {
		if (program->streams[i][0] == file->st_dev &&
		    program->streams[i][1] == file->st_ino)
			return true;
	}
	return is_standard(fd);
}

static bool can_block(int fd)
{
	struct stat file;

	if (sim_is_nonblocking(fd) || fstat(fd, &file) || leads_out(fd, &file))
		return false;
	return !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode) && !S_ISBLK(file.st_mode);
}

/*
 * Waits until the descriptor is ready for `events`, in a call of this name, which is counted if it
 * reads. Returns 0, or -1 and EINTR.
 */
static int await_ready(const char *name, int fd, short events)
{
	struct pollfd pollfd = { .fd = fd, .events = events };

	if (!can_block(fd))
		return 0;
	if (events == POLLIN)
		sim_enter(name, (const int[]){ 0 });
	else
		sim_name_call(name);
	while (sim_poll(&pollfd, 1, SIM_FOREVER) < 0) {
		if (!sim_restarts())
			return -1;
	}
	return 0;
}

/* Called after a call, because a program may repeat one that finds nothing in a loop. */
static void changed(int fd, ssize_t result)
{
	int saved = errno;

	if (result < 0 && errno == EAGAIN)
		sim_idle(sim_any_file);
	else
		sim_found();

	if (result >= 0 && !is_standard(fd))
		sim_wake_descriptor(NULL, sim_any_file);
	errno = saved;
}

/* Makes the call by the simulated driver, if one answers for the descriptor. */
#define DRIVER(call, fd, ...)                                              \
	do {                                                               \
		struct sim_file *sim_file = sim_file_of(fd);               \
		if (sim_file && sim_file->ops->call)                       \
			return sim_file->ops->call(sim_file, __VA_ARGS__); \
	} while (0)

#define INPUT(name, fd, flags, call)                                                    \
	do {                                                                            \
		ssize_t sim_done;                                                       \
		if (!sim_me)                                                            \
			return call;                                                    \
		sim_show_timers();                                                      \
		if (!((flags)&MSG_DONTWAIT) && await_ready(SIM_NAME(name), fd, POLLIN)) \
			return -1;                                                      \
		sim_done = call;                                                        \
		changed(fd, sim_done);                                                  \
		return sim_done;                                                        \
	} while (0)

#define OUTPUT(name, fd, flags, call, size)                                    \
	do {                                                                   \
		ssize_t sim_done;                                              \
		if (!sim_me)                                                   \
			return call;                                           \
		if (!((flags)&MSG_DONTWAIT) && await_ready(name, fd, POLLOUT)) \
			return -1;                                             \
		if (sim_is_lost(fd))                                           \
			return size;                                           \
		sim_done = call;                                               \
		changed(fd, sim_done);                                         \
		return sim_done;                                               \
	} while (0)

static ssize_t size_of(const struct msghdr *message)
{
	size_t i, size = 0;

	for (i = 0; i < message->msg_iovlen; i++)
		size += message->msg_iov[i].iov_len;
	return (ssize_t)size;
}

EXPORTED ssize_t read(int fd, void *buf, size_t count)
{
	DRIVER(read, fd, buf, count);
	INPUT("read", fd, 0, REAL(read)(fd, buf, count));
}

EXPORTED ssize_t recv(int fd, void *buf, size_t len, int flags)
{
	INPUT("recv", fd, flags, REAL(recv)(fd, buf, len, flags));
}

EXPORTED ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	DRIVER(recvmsg, fd, message);
	INPUT("recvmsg", fd, flags, REAL(recvmsg)(fd, message, flags));
}

EXPORTED ssize_t write(int fd, const void *buf, size_t count)
{
	DRIVER(write, fd, buf, count);
	OUTPUT("write", fd, 0, REAL(write)(fd, buf, count), (ssize_t)count);
}

EXPORTED int ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	void *argument;

	va_start(list, request);
	argument = va_arg(list, void *);
	va_end(list);
	DRIVER(ioctl, fd, request, argument);
	if (sim_me && fd == -1 && sim_hear_claim(request, argument))
		return 0;
	return (int)sim_system(SYS_ioctl, fd, request, argument);
}

EXPORTED ssize_t send(int fd, const void *buf, size_t len, int flags)
{
	OUTPUT("send", fd, flags, REAL(send)(fd, buf, len, flags), (ssize_t)len);
}

EXPORTED ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	DRIVER(sendmsg, fd, message);
	OUTPUT("sendmsg", fd, flags, REAL(sendmsg)(fd, message, flags), size_of(message));
}

EXPORTED int eventfd_read(int fd, eventfd_t *value)
{
	return read(fd, value, sizeof(*value)) == sizeof(*value) ? 0 : -1;
}

EXPORTED int eventfd_write(int fd, eventfd_t value)
{
	return write(fd, &value, sizeof(value)) == sizeof(value) ? 0 : -1;
}

EXPORTED int shutdown(int fd, int how)
{
	int ret = REAL(shutdown)(fd, how);

	if (sim_me)
		changed(fd, ret);
	return ret;
}

/* ---- Descriptors ---- */

EXPORTED int dup(int fd)
{
	int copy = (int)sim_system(SYS_dup, fd);

	sim_copy_file(fd, copy);
	return copy;
}

static int control(int fd, int command, va_list list)
{
	int ret = (int)sim_system(SYS_fcntl, fd, command, va_arg(list, void *));

	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
		sim_copy_file(fd, ret);
	return ret;
}

#define FCNTL(name)                                 \
	EXPORTED int name(int fd, int command, ...) \
	{                                           \
		va_list list;                       \
		int ret;                            \
		va_start(list, command);            \
		ret = control(fd, command, list);   \
		va_end(list);                       \
		return ret;                         \
	}
FCNTL(fcntl)
FCNTL(fcntl64)

EXPORTED int close(int fd)
{
	int ret;

	if (sim_close_file(fd))
		return 0;
	ret = REAL(close)(fd);
	if (!sim_me)
		return ret;
	sim_forget_timer(fd);
	sim_forget_socket(fd);
	changed(fd, ret);
	return ret;
}
