/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Measures the cost of registering memory, by size and size of pages; finds the size from which on
 * it is cheaper to register data in place than to copy them into registered memory; and shows how a
 * cache of registrations goes wrong. registration.md has results. The other end is
 * examples/echo_server.
 *
 *     registration ADDRESS
 */
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "our_control.h"

#define PORT      "12321"
#define SMALLEST  4096u
#define PREDICTED (256u << 10) /* predicted from the costs of this size, and of the smallest */
#define LARGEST   (64u << 20)
#define HUGE      (2u << 20)
#define RUNS      15
#define LENGTH    SMALLEST /* bytes to send: soft-iWARP copies a few bytes in the program itself */

static void report(void *context, const struct our_error *error)
{
	char text[600];

	(void)context;
	fprintf(stderr, "registration: %s\n", our_error_text(error, text, sizeof(text)));
}

static const struct our_config config = {
	.waiting = { &our_cm_nonblocking, &our_busy_polling },
	.report = report,
	.timeout_s = 10,
};

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Maps memory and writes to it, as a program has written to data that it sends. */
static char *map(size_t size, int flags)
{
	char *data = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | flags, -1, 0);

	if (data == MAP_FAILED)
		return NULL;
	memset(data, 1, size);
	return data;
}

static int compare(const void *a, const void *b)
{
	double first = *(const double *)a, second = *(const double *)b;

	return (first > second) - (first < second);
}

/*
 * Returns the median time, in microseconds, of ibv_reg_mr with ibv_dereg_mr; with `copy`, of a copy
 * to there instead. Returns a negative number if that fails.
 */
static double time_of(struct ibv_pd *pd, char *data, size_t size, char *copy)
{
	double took[RUNS], begun;
	struct ibv_mr *mr;
	int i;

	for (i = 0; i < RUNS; i++) {
		begun = now_us();
		if (copy) {
			memcpy(copy, data, size);
			__asm__ volatile("" : : "r"(copy) : "memory"); /* keeps the copy */
		} else {
			mr = ibv_reg_mr(pd, data, size, IBV_ACCESS_LOCAL_WRITE);
			if (!mr || ibv_dereg_mr(mr))
				return -1;
		}
		took[i] = now_us() - begun;
	}
	qsort(took, RUNS, sizeof(*took), compare);
	return took[RUNS / 2];
}

/*
 * Two points give the cost of a registration and of each page in it, and one the cost of copying a
 * page: the lines cross where fixed + pages * registered == pages * copied.
 */
static void predict(double small_us, double large_us, double copy_us)
{
	double registered = (large_us - small_us) / (PREDICTED / SMALLEST - 1);
	double fixed = small_us - registered, copied = copy_us / (PREDICTED / SMALLEST);

	printf("registration: %.1f us and %.3f for each page of 4 KiB; copy: %.3f for each page\n"
	       "predicted: they cross at %.0f KiB\n",
	       fixed, registered, copied, fixed / (copied - registered) * 4);
}

static int measure(struct ibv_pd *pd)
{
	char *data = map(LARGEST, 0), *copy = map(LARGEST, 0), *huge = map(LARGEST, MAP_HUGETLB);
	double here, there, small_us = 0, before = 0;
	size_t size;

	if (!data || !copy) {
		perror("registration: mmap");
		return ENOMEM;
	}
	printf("KiB        register  huge pages  copy      (us)\n");
	for (size = SMALLEST; size <= LARGEST; size *= 2) {
		here = time_of(pd, data, size, NULL);
		there = time_of(pd, data, size, copy);
		if (here < 0) {
			perror("registration: ibv_reg_mr");
			return EIO;
		}
		printf("%-10zu %-9.1f ", size >> 10, here);
		if (huge && size >= HUGE)
			printf("%-11.1f %.1f\n", time_of(pd, huge, size, NULL), there);
		else
			printf("            %.1f\n", there);
		if (size == SMALLEST)
			small_us = here;
		if (size == PREDICTED)
			predict(small_us, here, there);
		if (before > 0 && here < there)
			printf("measured: they cross at %.0f KiB\n",
			       (double)(size >> 11) * (1 + before / (before + there - here)));
		before = here - there;
	}
	return 0;
}

/* Sends the memory to the server, and takes what comes back into the client's buffer. */
static int echo(struct our_control *client, const struct ibv_mr *mr)
{
	struct our_completion completion;
	int i, ret = our_post_recv(client, 0);

	if (!ret)
		ret = our_post_send_from(client, mr->addr, LENGTH, mr, 0);
	for (i = 0; i < 2 && !ret; i++)
		ret = our_await_completion(client, &completion);
	return our_report_end(client, ret);
}

/*
 * A cache that finds registrations by their address finds that of memory that is gone, and uses it
 * for new memory at the same address. The device has the old pages, so nothing fails.
 */
static int go_wrong(struct our_control *client)
{
	char *data = map(LENGTH, 0), *again;
	struct ibv_mr *cached;
	int ret;

	if (!data || our_setup_mr(client, data, LENGTH, 0, &cached))
		return EIO;
	munmap(data, LENGTH); /* free(3) does this with large memory, and tells no cache */
	again = mmap(data, LENGTH, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (again != data) {
		perror("registration: mmap");
		our_unsetup_mr(&config, cached);
		return EIO;
	}
	memset(again, 2, LENGTH);
	ret = echo(client, cached);
	if (!ret)
		printf("cache: mapped again at the same address, sent by the old registration: the "
		       "peer has the %s data\n",
		       client->memory.buffers[0].data[0] == 1 ? "old" : "new");
	our_unsetup_mr(&config, cached);
	return ret;
}

int main(int argc, char **argv)
{
	struct our_control *client;
	struct addrinfo *server;
	int ret;

	if (argc != 2 || getaddrinfo(argv[1], PORT, NULL, &server)) {
		fprintf(stderr, "usage: registration ADDRESS\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	ret = our_create_control_struct(&config, OUR_CLIENT, &client);
	if (!ret)
		ret = our_create_id(client);
	if (!ret)
		ret = our_client_bind(client, server->ai_addr);
	if (!ret)
		ret = our_setup_qp(client, 1, 1);
	if (!ret)
		ret = our_setup_buffers(client, 1, LENGTH, IBV_ACCESS_LOCAL_WRITE);
	if (!ret)
		ret = measure(client->pd);
	if (!ret)
		ret = our_client_connect(client, NULL, 0);
	if (!ret)
		ret = go_wrong(client);
	our_disconnect(client);
	our_close(client);
	freeaddrinfo(server);
	if (fflush(stdout)) {
		perror("registration: stdout");
		ret = EIO;
	}
	return ret ? 1 : 0;
}
