/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Tests of verbs-trace: programs that end, or treat their descriptors and children, in unusual
 * ways, and must do the same under verbs-trace: harmless HOW. Each calls at least one verb; only
 * "channel" needs a device.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

/* A machine without any RDMA has no list. */
static void list_once(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (list)
		ibv_free_device_list(list);
}

static void *list_devices(void *argument)
{
	int i;

	for (i = 0; i < 5; i++)
		list_once();
	return argument;
}

static int threads(void)
{
	pthread_t ids[8];
	int i;

	for (i = 0; i < 8; i++)
		pthread_create(&ids[i], NULL, list_devices, NULL);
	for (i = 0; i < 8; i++)
		pthread_join(ids[i], NULL);
	return 0;
}

/* A verb is no cancellation point, so the next line of the thread must come. */
static void *cancel_itself(void *argument)
{
	pthread_cancel(pthread_self());
	ibv_wc_status_str(IBV_WC_SUCCESS);
	fputs("not yet cancelled\n", stdout);
	pthread_testcancel();
	return argument;
}

static int cancelled(void)
{
	pthread_t id;
	void *ret;

	pthread_create(&id, NULL, cancel_itself, NULL);
	pthread_join(id, &ret);
	list_once();
	return ret == PTHREAD_CANCELED ? 0 : 1;
}

/* Reading the event is a cancellation point, within a verb. */
static void *await_event(void *channel)
{
	struct ibv_cq *cq;

	ibv_get_cq_event(channel, &cq, &channel);
	return NULL;
}

/* The next thread takes the place of the one that ended within a verb. */
static int cancelled_within(void)
{
	struct ibv_comp_channel channel;
	pthread_t id;
	int fds[2];

	if (pipe(fds))
		return 1;
	channel.fd = fds[0];
	pthread_create(&id, NULL, await_event, &channel);
	pthread_cancel(id);
	pthread_join(id, NULL);
	pthread_create(&id, NULL, list_devices, NULL);
	return pthread_join(id, NULL);
}

static atomic_bool has_begun;

static void *terminate(void *main_thread)
{
	while (!has_begun)
		usleep(1000);
	usleep(1000); /* any time will do, because the other is always busy */
	pthread_kill(*(pthread_t *)main_thread, SIGTERM);
	return NULL;
}

/* Sends a signal in the middle of a verb. */
static _Noreturn void busy(void)
{
	pthread_t id, self = pthread_self();

	pthread_create(&id, NULL, terminate, &self);
	for (;;) {
		ibv_wc_status_str(IBV_WC_SUCCESS);
		has_begun = true;
	}
}

/* The child frees its parent's objects. */
static int forks(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int status;

	if (!fork()) {
		if (list)
			ibv_free_device_list(list);
		list_once();
		_exit(5);
	}
	wait(&status);
	if (list)
		ibv_free_device_list(list);
	return WEXITSTATUS(status);
}

static struct rdma_cm_id never_connected; /* the library reads it without a lock of its own */

static void *ask_until(void *enough)
{
	while (!*(atomic_bool *)enough)
		rdma_get_src_port(&never_connected);
	return NULL;
}

/* Forks children while another thread is busy. */
static int forks_beside(void)
{
	atomic_bool enough = false;
	pthread_t id;
	int i, status, failed = 0;

	pthread_create(&id, NULL, ask_until, &enough);
	for (i = 0; i < 100; i++) {
		if (!fork()) {
			rdma_get_src_port(&never_connected);
			_exit(0);
		}
		wait(&status);
		failed += status != 0;
	}
	enough = true;
	pthread_join(id, NULL);
	return failed;
}

/* Polls with something to read, with nothing, and with a wrong argument. */
static int polls(void)
{
	const struct timespec never = { .tv_nsec = -1 };
	struct pollfd ready = { .events = POLLIN };
	char byte = 0;
	int ends[2];

	if (pipe(ends) || write(ends[1], &byte, 1) != 1)
		return 3;
	ready.fd = ends[0];
	if (poll(&ready, 1, -1) != 1 || ready.revents != POLLIN || read(ends[0], &byte, 1) != 1)
		return 3;
	if (poll(&ready, 1, 0) || ready.revents)
		return 3;
	errno = 0;
	return ppoll(&ready, 1, &never, NULL) == -1 && errno == EINVAL ? 0 : 3;
}

/* Writes more than a line of the trace has room for. */
static int polls_many(void)
{
	static struct pollfd many[1024];
	size_t i;

	for (i = 0; i < sizeof(many) / sizeof(many[0]); i++) {
		many[i].fd = INT_MIN; /* the parent does not wait for it */
		many[i].events = POLLIN | POLLPRI | POLLOUT | POLLERR | POLLHUP | POLLNVAL;
	}
	return poll(many, sizeof(many) / sizeof(many[0]), 0);
}

/* Destroys the older of two CQs of a channel, and creates a third; no event has come for any. */
static int channel(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && *list ? ibv_open_device(*list) : NULL;
	struct ibv_comp_channel *channel = context ? ibv_create_comp_channel(context) : NULL;
	struct ibv_cq *cqs[3], *cq;
	void *of_cq;
	int i;

	if (!channel || fcntl(channel->fd, F_SETFL, O_NONBLOCK))
		return 3;
	for (i = 0; i < 3; i++) {
		if (i == 2 && ibv_destroy_cq(cqs[0]))
			return 3;
		cqs[i] = ibv_create_cq(context, 1, NULL, channel, 0);
		if (!cqs[i])
			return 3;
	}
	if (!ibv_get_cq_event(channel, &cq, &of_cq) || errno != EAGAIN)
		return 3;
	ibv_destroy_cq(cqs[1]);
	ibv_destroy_cq(cqs[2]);
	ibv_destroy_comp_channel(channel);
	ibv_close_device(context);
	ibv_free_device_list(list);
	return 0;
}

/* Prints the descriptors from 0 on that are open. */
static int descriptors(void)
{
	int fd;

	for (fd = 0; fd < 16; fd++)
		putchar(fcntl(fd, F_GETFD) < 0 ? '-' : '0' + fd % 10);
	putchar('\n');
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int fd, to = 1000;

	list_once();
	if (!strcmp(how, "status"))
		return 42;
	if (!strcmp(how, "_exit"))
		_exit(43);
	if (!strcmp(how, "killed"))
		raise(SIGKILL);
	if (!strcmp(how, "terminated"))
		raise(SIGTERM);
	if (!strcmp(how, "aborts"))
		abort();
	if (!strcmp(how, "threads"))
		return threads();
	if (!strcmp(how, "cancelled"))
		return cancelled();
	if (!strcmp(how, "cancelled within"))
		return cancelled_within();
	if (!strcmp(how, "polls"))
		return polls();
	if (!strcmp(how, "polls many"))
		return polls_many();
	if (!strcmp(how, "descriptors"))
		return descriptors();
	if (!strcmp(how, "channel"))
		return channel();
	if (!strcmp(how, "busy"))
		busy();
	if (!strcmp(how, "forks"))
		return forks();
	if (!strcmp(how, "forks beside"))
		return forks_beside();
	if (!strcmp(how, "execs"))
		execl(argv[0], argv[0], "status", NULL);
	if (!strcmp(how, "closes")) {
		close(STDERR_FILENO);
		list_devices(NULL);
		return 0;
	}
	if (!strcmp(how, "closes all")) {
		for (fd = 3; fd < 4096; fd++)
			close(fd);
		for (fd = open("/dev/full", O_WRONLY); fd >= 0 && to < 1024; to++)
			dup2(fd, to); /* descriptors of the program now */
		list_devices(NULL);
		return 0;
	}
	if (!strcmp(how, "errno")) {
		errno = ENOTTY;
		ibv_wc_status_str(IBV_WC_SUCCESS);
		return errno != ENOTTY;
	}
	return 2;
}
