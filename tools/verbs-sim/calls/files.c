/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Descriptors that a simulated driver answers for, by their numbers. See libc.h.
 */
#include <stdlib.h>
#include <sys/syscall.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"

struct sim_hooks sim_hooks;

static struct sim_file **files; /* this program's, by descriptor */
static int n_files;

void sim_add_file(struct sim_file *file, int fd, const struct sim_file_ops *ops)
{
	int i, wanted = fd + 64;

	if (fd >= n_files) {
		files = realloc(files, (size_t)wanted * sizeof(*files));
		if (!files)
			sim_give_up(SIM_VERDICT_BROKEN, "out of memory");
		for (i = n_files; i < wanted; i++)
			files[i] = NULL;
		n_files = wanted;
	}
	file->fd = fd;
	file->ops = ops;
	file->owner = sim_me->program;
	files[fd] = file;
}

struct sim_file *sim_file_of(int fd)
{
	return fd >= 0 && fd < n_files ? files[fd] : NULL;
}

void sim_copy_file(int fd, int copy)
{
	struct sim_file *file = sim_file_of(fd);
	struct sim_file kept;

	if (!file || copy < 0)
		return;
	kept = *file;
	sim_add_file(file, copy, file->ops);
	*file = kept;
	file->copies++;
}

/*
 * The driver needs the first descriptor as long as there are others. A child of fork(2) closes only its own
 * descriptor: its parent has the file.
 */
bool sim_close_file(int fd)
{
	struct sim_file *file = sim_file_of(fd);

	if (!file)
		return false;
	files[fd] = NULL;
	if (fd != file->fd || (sim_me && file->owner != sim_me->program))
		sim_system(SYS_close, fd);
	if (sim_me && file->owner != sim_me->program)
		return true;
	if (!file->copies--)
		file->ops->close(file);
	return true;
}
