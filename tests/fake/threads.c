/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, the program's threads and its hurried clock. Contract: the clock stands still
 * while another thread of the program has something to do. Otherwise, on a busy machine, a thread
 * that waits would be minutes ahead of one that waits for a processor.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fake/libc.h"
#include "tests/fake/state.h"

#define MAX_WAITS 10000 /* of a millisecond, in a run */

/* Polls that find nothing, between two looks at the other threads. */
#define POLLS_BETWEEN 100

/* A thread of the program that polls. It never sleeps: its polls show that it only waits. */
struct poller {
	struct poller *next;
	char name[16]; /* in /proc/self/task */
	unsigned int polls;
	bool in_vain; /* it has found nothing since the last look of a thread at the others */
	bool paused;  /* in fake_wait_for_thread, and is to poll again */
};

static struct poller *pollers; /* guarded by the fake's lock; never freed */
static _Thread_local struct poller *own;

void fake_forget_poller(void)
{
	own = NULL;
}

/* Its name as /proc knows it, which is not that of gettid(2) in another pid namespace. */
static void read_name(char *name, size_t size)
{
	char path[64];
	ssize_t length = readlink("/proc/thread-self", path, sizeof(path) - 1);
	const char *last;

	path[length > 0 ? length : 0] = '\0';
	last = strrchr(path, '/');
	snprintf(name, size, "%.15s", last ? last + 1 : "");
}

static struct poller *find_poller(const char *name)
{
	struct poller *poller = pollers;

	while (poller && strcmp(poller->name, name))
		poller = poller->next; /* the newest comes first: names are used again */
	return poller;
}

/* Whether the kernel says that it sleeps, or has ended. If nothing can be read, it counts as asleep. */
static bool is_asleep(const char *name)
{
	char path[64], line[128] = "";
	const char *name_end;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%.15s/stat", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	if (__real_read(fd, line, sizeof(line) - 1) < 0)
		line[0] = '\0';
	close(fd);
	name_end = strrchr(line, ')');
	return !name_end || strchr("SZX", name_end[2]);
}

static bool waits(const char *name)
{
	const struct poller *poller = find_poller(name);

	if (poller && poller->in_vain)
		return true;
	return !(poller && poller->paused) && is_asleep(name);
}

static bool all_others_wait(void)
{
	DIR *threads = opendir("/proc/self/task");
	const struct dirent *entry;
	bool wait = true;
	char self[16];

	if (!threads)
		return true;
	read_name(self, sizeof(self));
	while (wait && (entry = readdir(threads))) {
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, self))
			wait = waits(entry->d_name);
	}
	closedir(threads);
	return wait;
}

bool fake_wait_for_thread(void)
{
	struct poller *poller;

	if (!fake_threads || fake_report->waits_for_thread == MAX_WAITS)
		return false;
	if (all_others_wait()) {
		for (poller = pollers; poller; poller = poller->next)
			poller->in_vain = false;
		return false;
	}
	fake_report->waits_for_thread++;
	fake_let_others_run();
	return true;
}

static void add_poller(void)
{
	own = fake_allocate(sizeof(*own));
	read_name(own->name, sizeof(own->name));
	own->next = pollers;
	pollers = own;
}

void fake_note_poll_in_vain(void)
{
	if (!fake_threads)
		return;
	if (!own)
		add_poller();
	own->in_vain = true;
	if (++own->polls % POLLS_BETWEEN)
		return;
	own->paused = true;
	while (fake_wait_for_thread())
		;
	own->paused = false;
}
