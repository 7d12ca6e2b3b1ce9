/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The kernel's files about devices, below /sys and /dev: generated from the world whenever a
 * program looks.
 *
 * Contract: the devices of the world stay as they are during a run, so that these functions may be
 * called with the turn or without it. A path is absolute, without "." and "..", and is one of the
 * kernel's if it leads below a folder that only RDMA has; there, other files do not exist.
 */
#ifndef VERBS_SIM_KERNEL_SYSFS_H
#define VERBS_SIM_KERNEL_SYSFS_H
#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>

#include "verbs-sim/device/device.h"

#define SYSFS_MOST_TEXT 256 /* bytes in a file, and in a name in a folder */

enum sysfs_kind {
	SYSFS_OTHER,   /* not a path of the kernel's: the real file */
	SYSFS_MISSING, /* a path of the kernel's, without a file */
	SYSFS_FOLDER,
	SYSFS_FILE,
	SYSFS_UVERBS, /* /dev/infiniband/uverbsN: a device */
	SYSFS_UCMA    /* /dev/infiniband/rdma_cm */
};

/* Returns the kind of a path, and sets *device for a device's. `device` may be NULL. */
enum sysfs_kind sysfs_look(const char *path, struct sim_device **device);

/* Writes the text of a file. Returns its length in bytes. */
size_t sysfs_read(const char *path, char text[SYSFS_MOST_TEXT]);

/* Writes the Nth name of a folder, from 0. Returns false if it has fewer. */
bool sysfs_list(const char *path, unsigned int n, char name[SYSFS_MOST_TEXT], unsigned char *type);

/* Returns major and minor number of a device file, as dev_t; NULL: the file rdma_cm. */
dev_t sysfs_number_of(const struct sim_device *device);

/* Returns true if the program sees the device, which may be of another host. */
bool sysfs_sees(const struct sim_device *device);
#endif
