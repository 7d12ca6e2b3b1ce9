/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: reading folders of the kernel. Their streams are found by address, as a program only passes
 * them on.
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
	unsigned int place; /* the index of the name to read next */
	struct dirent entry;
	DIR *drivers; /* the real folder, of which only some names are shown; or NULL */
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

/*
 * libibverbs loads the library of each driver that this folder names. Simulated devices need only
 * two, and loading the others takes a third of a short run.
 */
static DIR *open_drivers(const char *path)
{
	DIR *drivers = REAL(opendir)(path), *stream;

	if (!drivers)
		return NULL;
	stream = open_folder(path);
	if (stream)
		((struct folder *)stream)->drivers = drivers;
	else
		REAL(closedir)(drivers);
	return stream;
}

static struct dirent *next_driver(DIR *drivers)
{
	struct dirent *entry;

	do {
		entry = REAL(readdir)(drivers);
	} while (entry && strcmp(entry->d_name, "rxe.driver") &&
		 strcmp(entry->d_name, "siw.driver"));
	return entry;
}

EXPORTED DIR *opendir(const char *path)
{
	const char *name = strrchr(path, '/');

	switch (sysfs_look(path, NULL)) {
	case SYSFS_OTHER:
		if (sim_me && name && !strcmp(name, "/libibverbs.d"))
			return open_drivers(path);
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
	if (folder->drivers)
		return next_driver(folder->drivers);
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

	if (folder && !folder->drivers)
		folder->place = 0;
	else
		REAL(rewinddir)(folder ? folder->drivers : stream);
}

EXPORTED int closedir(DIR *stream)
{
	struct folder *folder = folder_of(stream);

	if (!folder)
		return REAL(closedir)(stream);
	if (folder->drivers)
		REAL(closedir)(folder->drivers);
	LIST_REMOVE(folder, link);
	free(folder->path);
	free(folder);
	return 0;
}
