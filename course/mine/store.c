/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A key-value store on mine.h: `store serve ADDRESS` keeps the table, and one thread changes its
 * first half all the time; `store use ADDRESS COUNT` gets values of that half, and puts into the
 * other one. The server's program serves neither. A value that was got while it changed is torn:
 * it is got again.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "course/mine/mine.h"

#define PORT  "12323"
#define SLOTS 1024
#define WORDS 125 /* words of a value, which is a thousand bytes long */

/* The number is odd while the value changes. The sum is over number and value. */
struct slot {
	_Atomic uint64_t number;
	uint64_t sum, value[WORDS], number_again;
};

static struct slot table[SLOTS];

static uint64_t sum_of(const struct slot *slot, uint64_t number)
{
	uint64_t sum = number;
	int i;

	for (i = 0; i < WORDS; i++)
		sum = sum * 31 + slot->value[i];
	return sum;
}

static void change(struct slot *slot, uint64_t key)
{
	uint64_t number = slot->number + 2;
	int i;

	atomic_store(&slot->number, number - 1);
	atomic_thread_fence(memory_order_seq_cst);
	for (i = 0; i < WORDS; i++)
		slot->value[i] = key * number + (uint64_t)i;
	slot->sum = sum_of(slot, number);
	slot->number_again = number;
	atomic_thread_fence(memory_order_seq_cst);
	atomic_store(&slot->number, number);
}

static bool is_whole(const struct slot *slot, uint64_t key)
{
	uint64_t number = slot->number;

	return !(number & 1) && number == slot->number_again && slot->sum == sum_of(slot, number) &&
	       slot->value[1] == key * number + 1;
}

static void *keep_changing(void *unused)
{
	uint64_t key;

	(void)unused;
	for (key = 0;; key = (key + 1) % (SLOTS / 2))
		change(&table[key], key);
	return NULL;
}

static int fail(const char *call, int error)
{
	fprintf(stderr, "store: %s: %s\n", call, strerror(error));
	return 1;
}

static int serve(const char *address)
{
	struct mine_options options = { 4, true, table, sizeof(table) };
	static uint8_t data[MINE_LONGEST];
	struct mine_listener *listener;
	struct mine *mine;
	pthread_t thread;
	uint32_t length;
	uint64_t key;
	int ret;

	for (key = 0; key < SLOTS; key++)
		change(&table[key], key);
	ret = mine_listen(address, PORT, &listener);
	if (ret)
		return fail("mine_listen", ret);
	ret = mine_accept(listener, &options, &mine);
	if (ret)
		return fail("mine_accept", ret);
	pthread_create(&thread, NULL, keep_changing, NULL);
	ret = mine_recv(mine, data, &length); /* this waits until the client leaves */
	mine_close(mine);
	mine_stop_listening(listener);
	for (key = SLOTS / 2; key < SLOTS; key++)
		if (!is_whole(&table[key], key))
			return fail("a value that was put is not whole", EBADMSG);
	return ret == ECONNRESET ? 0 : fail("mine_recv", ret);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int get(struct mine *mine, uint64_t key, struct slot *slot, uint64_t *torn)
{
	int ret;

	for (;; ++*torn) {
		ret = mine_get(mine, key * sizeof(*slot), slot, sizeof(*slot));
		if (ret || is_whole(slot, key))
			return ret;
	}
}

static int use(const char *address, uint64_t count)
{
	struct mine_options options = { 4, false, NULL, 0 };
	uint64_t i, key, torn = 0;
	struct slot slot;
	struct mine *mine;
	double start;
	int ret;

	ret = mine_connect(address, PORT, &options, &mine);
	if (ret)
		return fail("mine_connect", ret);
	start = now();
	for (i = 0; !ret && i < count; i++)
		ret = get(mine, i * 769 % (SLOTS / 2), &slot, &torn);
	printf("%" PRIu64 " gets, %.1f us each; %" PRIu64 " were torn\n", i,
	       (now() - start) * 1e6 / (double)i, torn);
	start = now();
	for (i = 0; !ret && i < count; i++) {
		key = SLOTS / 2 + i * 769 % (SLOTS / 2);
		ret = get(mine, key, &slot, &torn);
		change(&slot, key);
		if (!ret)
			ret = mine_put(mine, key * sizeof(slot), &slot, sizeof(slot));
	}
	printf("%" PRIu64 " gets and puts, %.1f us each\n", i, (now() - start) * 1e6 / (double)i);
	mine_close(mine);
	return ret ? fail("mine_get or mine_put", ret) : 0;
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	if (argc == 3 && !strcmp(argv[1], "serve"))
		return serve(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "use") && atoi(argv[3]) > 0)
		return use(argv[2], (uint64_t)atoi(argv[3]));
	fprintf(stderr, "usage: store serve ADDRESS | store use ADDRESS COUNT\n");
	return 2;
}
