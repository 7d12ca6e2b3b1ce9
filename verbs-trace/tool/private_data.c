/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: finds reads of a CM event's private data after the event's ack. The program
 * gets a copy on separate pages. After the ack these pages cannot be read; the tool's SIGSEGV handler
 * notes the read, and lets the program continue. See watch.h.
 */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verbs-trace/tool/guard.h"
#include "verbs-trace/tool/settings.h"
#include "verbs-trace/tool/watch.h"

#define PAGES 256 /* only this many of the newest private data are watched */

static struct page {
	uint8_t *data;
	struct moment acked;
	bool in_use, guarded;
} pages[PAGES];
static unsigned int next_page;

static void on_fault(int number, siginfo_t *info, void *context)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE), i;
	const uint8_t *at = info->si_addr;

	(void)context;
	for (i = 0; i < PAGES; i++) {
		if (!pages[i].guarded || at < pages[i].data || at >= pages[i].data + size)
			continue;
		pages[i].guarded = false;
		mprotect(pages[i].data, size, PROT_READ | PROT_WRITE);
		accuse(SORT_PRIVATE_DATA, pages[i].acked,
		       "private data was read after this ack of its event");
		return;
	}
	signal(number, SIG_DFL); /* a fault of the program: it is repeated, and ends it */
}

/* False where the program has a handler of its own. */
static bool have_handler(void)
{
	struct sigaction now,
		ours = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	if (sigaction(SIGSEGV, NULL, &now))
		return false;
	if (now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_fault)
		return true;
	return !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL &&
	       !sigaction(SIGSEGV, &ours, NULL);
}

static struct page *free_page(size_t size)
{
	struct page *page;
	unsigned int i;

	for (i = 0; i < PAGES; i++) {
		page = &pages[next_page++ % PAGES];
		if (page->in_use)
			continue;
		if (!page->data) {
			page->data = mmap(NULL, size, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (page->data == MAP_FAILED) {
				page->data = NULL;
				return NULL;
			}
		} else if (page->guarded) {
			mprotect(page->data, size, PROT_READ | PROT_WRITE);
		}
		page->guarded = false;
		return page;
	}
	return NULL;
}

/*
 * With a length: returns the copy for the program. Without: the event of this copy is acknowledged
 * now.
 */
const void *private_data_guard(const void *data, size_t length, struct moment moment)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE), i;
	struct page *page = NULL;

	guard_lock(GUARD_PRIVATE_DATA);
	if (length) {
		page = free_page(size);
		if (page) {
			page->in_use = true;
			memset(page->data, 0, size); /* nothing of the previous data */
			memcpy(page->data, data, length);
			data = page->data;
		}
	}
	for (i = 0; !length && i < PAGES; i++) {
		if (pages[i].data != data || !pages[i].in_use)
			continue;
		pages[i].in_use = false;
		pages[i].acked = moment;
		if (have_handler())
			pages[i].guarded = !mprotect(pages[i].data, size, PROT_NONE);
	}
	guard_unlock(GUARD_PRIVATE_DATA);
	return data;
}
