/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What programs of a run with steps read and write: files, so that no program waits for a reader in
 * real time, and the runner can search what was written. See runner.h.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verbs-sim/runner/runner.h"

void sim_default_streams(const struct sim_run *run, struct sim_streams *streams)
{
	int i;

	*streams = (struct sim_streams){ .fds = { -1, -1, -1 } };
	if (!run->options->steps)
		return;
	streams->fds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	for (i = 1; i < 3; i++) {
		streams->fds[i] = memfd_create("output", MFD_CLOEXEC);
		streams->kept[i] = true;
	}
}

bool sim_redirect(struct sim_streams *streams, const char *word)
{
	static const char *const signs[] = { "<", ">", "2>" };
	static const int flags[] = { O_RDONLY, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND };
	int i;

	for (i = 0; i < 3 && strncmp(word, signs[i], strlen(signs[i])); i++)
		;
	if (i == 3)
		return false;
	close(streams->fds[i]);
	streams->kept[i] = false;
	streams->files[i] = strdup(word + strlen(signs[i]));
	streams->fds[i] = open(streams->files[i], flags[i > 0] | O_CLOEXEC, 0666);
	return true;
}

void sim_close_streams(struct sim_streams *streams)
{
	int i;

	for (i = 0; i < 3; i++) {
		if (streams->fds[i] >= 0 && !streams->kept[i])
			close(streams->fds[i]);
	}
}

/* Maps what was written. Returns NULL if there is nothing, or it cannot be read. */
static const char *map(const struct sim_streams *streams, int stream, size_t *size)
{
	int fd = streams->kept[stream] ? streams->fds[stream]
				       : open(streams->files[stream], O_RDONLY | O_CLOEXEC);
	void *text = MAP_FAILED;
	struct stat found;

	if (fd >= 0 && !fstat(fd, &found) && S_ISREG(found.st_mode) && found.st_size) {
		*size = (size_t)found.st_size;
		text = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	if (fd >= 0 && !streams->kept[stream])
		close(fd);
	return text == MAP_FAILED ? NULL : text;
}

bool sim_search(const struct sim_streams *streams, struct sim_steps *steps)
{
	size_t size, length = strlen(steps->text);
	const char *text = map(streams, steps->stream, &size), *found;

	if (!text)
		return false;
	while (steps->times && (found = memmem(text + steps->searched, size - steps->searched,
					       steps->text, length))) {
		steps->times--;
		steps->searched = (size_t)(found - text) + length;
	}
	if (size - steps->searched >= length)
		steps->searched = size - length + 1;
	munmap((void *)text, size);
	return !steps->times;
}

void sim_print_kept(const struct sim_streams *streams)
{
	const char *text;
	size_t size;
	int i;

	for (i = 1; i < 3; i++) {
		text = streams->kept[i] ? map(streams, i, &size) : NULL;
		if (!text)
			continue;
		fwrite(text, 1, size, i == 1 ? stdout : stderr);
		fflush(i == 1 ? stdout : stderr);
		munmap((void *)text, size);
		close(streams->fds[i]);
	}
}
