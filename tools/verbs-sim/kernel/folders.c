/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: reading folders of the kernel. A stream of one is known by its address: a program only passes
 * it on.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/kernel/sysfs.h"

struct folder {
	LIST_ENTRY(folder) link;
	char *path;
	unsigned int place; /* of the name that is read next */
	struct dirent entry;
};
static LIST_HEAD(folders, folder) folders = LIST_HEAD_INITIALIZER(folders);

static struct folder *folder_of(const DIR *stream)
{
	struct folder *folder;

	for (folder = LIST_FIRST(&folders); folder; folder = LIST_NEXT(folder, link)) {
		if (folder == (const void *)stream)
			return folder;
	}
	return NULL;
}

static DIR *open_folder(const char *path)
{
	struct folder *folder = calloc(1, sizeof(*folder));

	if (folder)
		folder->path = strdup(path);
	if (!folder || !folder->path) {
		free(folder);
		return NULL;
	}
	LIST_INSERT_HEAD(&folders, folder, link);
	return (DIR *)folder;
}

EXPORTED DIR *opendir(const char *path)
{
	switch (sysfs_look(path, NULL)) {
	case SYSFS_OTHER:
		return REAL(opendir)(path);
	case SYSFS_FOLDER:
		return open_folder(path);
	case SYSFS_MISSING:
		return sim_null(ENOENT);
	default:
		return sim_null(ENOTDIR);
	}
}

EXPORTED struct dirent *readdir(DIR *stream)
{
	struct folder *folder = folder_of(stream);
	char name[SYSFS_MOST_TEXT];

	if (!folder)
		return REAL(readdir)(stream);
	if (!sysfs_list(folder->path, folder->place, name, &folder->entry.d_type))
		return NULL;
	snprintf(folder->entry.d_name, sizeof(folder->entry.d_name), "%s", name);
	folder->entry.d_ino = ++folder->place;
	return &folder->entry;
}

/* On a processor of 64 bits the two structures are the same. */
EXPORTED struct dirent64 *readdir64(DIR *stream)
{
	return (struct dirent64 *)readdir(stream);
}

EXPORTED void rewinddir(DIR *stream)
{
	struct folder *folder = folder_of(stream);

	if (folder)
		folder->place = 0;
	else
		REAL(rewinddir)(stream);
}

EXPORTED int closedir(DIR *stream)
{
	struct folder *folder = folder_of(stream);

	if (!folder)
		return REAL(closedir)(stream);
	LIST_REMOVE(folder, link);
	free(folder->path);
	free(folder);
	return 0;
}
