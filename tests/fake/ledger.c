/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, the ledger. Contract: records every object from its creation on, and reports
 * wrong use by the program: use after destruction, destruction before the objects that need it, or
 * no destruction. Objects that were destroyed stay in memory; with AddressSanitizer they are
 * poisoned. Descriptors that are open at the end are counted, too, because no other tool reports
 * them.
 */
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/fake/state.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

static LIST_HEAD(object_list, fake_object) objects;
static unsigned int fds_at_start;

static unsigned int count_fds(void)
{
	DIR *directory = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (directory && readdir(directory))
		n++;
	if (directory)
		closedir(directory);
	return n;
}

void fake_open_ledger(void)
{
	fds_at_start = count_fds();
}

void fake_complain(const char *format, ...)
{
	size_t used = strlen(fake_report->text);
	va_list arguments;

	fake_report->complaints++;
	va_start(arguments, format);
	vsnprintf(fake_report->text + used, FAKE_TEXT - used, format, arguments);
	va_end(arguments);
	used = strlen(fake_report->text);
	snprintf(fake_report->text + used, FAKE_TEXT - used, "; ");
}

void *fake_create(const char *what, size_t size, size_t handle_offset, size_t handle_size)
{
	struct fake_object *object = fake_allocate(size), *other;

	object->what = what;
	object->alive = true;
	object->number = 1;
	object->handle = (char *)object + handle_offset;
	object->size = handle_size;
	for (other = LIST_FIRST(&objects); other; other = LIST_NEXT(other, all)) {
		if (!strcmp(other->what, what) && other->number >= object->number)
			object->number = other->number + 1;
	}
	LIST_INSERT_HEAD(&objects, object, all);
	return object;
}

bool fake_use(const struct fake_object *object, const char *call)
{
	if (!object->alive)
		fake_complain("%s: %s %u has been destroyed", call, object->what, object->number);
	return object->alive;
}

bool fake_retire(struct fake_object *object, const char *call)
{
	if (!fake_use(object, call))
		return false;
	if (object->users) {
		fake_complain("%s: %s %u is still needed by %u", call, object->what, object->number,
			      object->users);
		return false;
	}
	object->alive = false;
	ASAN_POISON_MEMORY_REGION(object->handle, object->size);
	return true;
}

void fake_judge_ledger(void)
{
	const struct fake_object *object;
	unsigned int fds = count_fds();

	for (object = LIST_FIRST(&objects); object; object = LIST_NEXT(object, all)) {
		if (object->alive && !object->hidden)
			fake_complain("%s %u was never %s", object->what, object->number,
				      strcmp(object->what, "CM event") ? "destroyed" : "acked");
	}
	if (fds > fds_at_start)
		fake_complain("%u file descriptors were never closed", fds - fds_at_start);
}
