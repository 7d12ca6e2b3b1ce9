/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A device's access to the memory of programs: to any program's, without its help, and only where a
 * region is registered. See device.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "verbs-sim/device/device.h"

struct sim_mr *sim_find_key(const struct sim_program *program, uint32_t key)
{
	struct sim_mr *mr = sim_find(SIM_MR, SIM_MR_OF_KEY(key));

	return mr && mr->key == key && mr->object.program == program ? mr : NULL;
}

bool sim_is_inside(const struct sim_mr *mr, uint64_t address, uint64_t length)
{
	const struct sim_region *region = &mr->region;

	return address >= region->iova && length <= region->length &&
	       address - region->iova <= region->length - length;
}

const struct sim_mr *sim_find_mr(const struct sim_pd *pd, uint32_t key, uint64_t address,
				 uint64_t length, int access)
{
	const struct sim_mr *mr = sim_find_key(pd->object.program, key);

	return mr && mr->pd == pd && sim_is_inside(mr, address, length) &&
			       (mr->region.access & access) == access
		       ? mr
		       : NULL;
}

/* ---- What is mapped ---- */

/* Reads a line of /proc/self/maps: if its range has `address`, moves that to its end. */
static bool goes_on(const char *line, uint64_t *address, bool to_write)
{
	char *rest;
	uint64_t start = strtoull(line, &rest, 16), end = strtoull(rest + 1, &rest, 16);

	if (end <= *address)
		return true;
	if (start > *address || (to_write && rest[2] != 'w'))
		return false;
	*address = end;
	return true;
}

bool sim_is_mapped(uint64_t address, uint64_t length, bool to_write)
{
	static char text[1 << 14];
	uint64_t end = address + length;
	size_t kept = 0;
	char *line, *newline;
	long got;
	int fd = (int)sim_system(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return true;
	while (address < end &&
	       (got = sim_system(SYS_read, fd, text + kept, sizeof(text) - kept - 1)) > 0) {
		text[kept + (size_t)got] = '\0';
		for (line = text; address < end && (newline = strchr(line, '\n'));
		     line = newline + 1) {
			if (!goes_on(line, &address, to_write))
				end = 0;
		}
		kept = strlen(line);
		memmove(text, line, kept);
	}
	sim_system(SYS_close, fd);
	return end && address >= end;
}

/* ---- Copying ---- */

/*
 * For an emulator of processes, such as qemu-user, that has no process_vm_readv(2): the address is
 * the same outside of it.
 */
static long move_by_file(long call, pid_t pid, uint64_t address, void *here, size_t length)
{
	char path[32];
	long moved;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = (int)sim_system(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -1;
	call = call == SYS_process_vm_readv ? SYS_pread64 : SYS_pwrite64;
	moved = sim_system(call, fd, here, length, address);
	sim_system(SYS_close, fd);
	return moved;
}

/* For a program of another user. */
static long move_by_helper(long call, pid_t pid, uint64_t address, void *here, size_t length)
{
	struct sim_help *help = &sim_world->help;

	help->mine = (pid_t)sim_system(SYS_getpid);
	help->other = pid;
	help->here = (uint64_t)here;
	help->there = address;
	help->length = length;
	help->writes = call == SYS_process_vm_writev;
	sim_ask_helper(SIM_WANTS_COPY);
	return help->moved;
}

/* Not process_vm_readv(3): a sanitizer would take it for an access by the program. */
static int move(long call, const struct sim_program *program, uint64_t address, void *here,
		size_t length)
{
	struct iovec local = { here, length }, remote = { (void *)address, length };
	long moved;

	if (!length)
		return 0;
	moved = sim_system(call, program->pid, &local, 1, &remote, 1, 0);
	if (moved < 0 && errno == ENOSYS)
		moved = move_by_file(call, program->pid, address, here, length);
	else if (moved < 0 && errno == EPERM && sim_world->help.serves)
		moved = move_by_helper(call, program->pid, address, here, length);
	return moved == (long)length ? 0 : EFAULT;
}

int sim_read_memory(const struct sim_program *program, uint64_t address, void *to, size_t length)
{
	return move(SYS_process_vm_readv, program, address, to, length);
}

int sim_write_memory(const struct sim_program *program, uint64_t address, const void *from,
		     size_t length)
{
	return move(SYS_process_vm_writev, program, address, (void *)from, length);
}

/* Returns the address of an SGE's data in the program; 0: not registered for this access. */
static uint64_t place_of(const struct sim_pd *pd, const struct ibv_sge *sge, uint32_t length,
			 int access)
{
	const struct sim_mr *mr = sim_find_mr(pd, sge->lkey, sge->addr, length, access);

	return mr ? mr->region.address + (sge->addr - mr->region.iova) : 0;
}

int sim_gather(const struct sim_pd *pd, const struct ibv_sge *sge, int num_sge, uint8_t *to)
{
	const struct sim_mr *mr;
	uint64_t address;
	int i;

	for (i = 0; i < num_sge; to += sge[i++].length) {
		if (!sge[i].length)
			continue;
		mr = sim_find_key(pd->object.program, sge[i].lkey);
		if (!mr || mr->pd != pd)
			return EINVAL;
		address = place_of(pd, &sge[i], sge[i].length, 0);
		if (!address || sim_read_memory(pd->object.program, address, to, sge[i].length))
			return EFAULT;
	}
	return 0;
}

/* As the drivers do, looks only at the memory that the data reach: probe edges. */
int sim_scatter(const struct sim_pd *pd, const struct ibv_sge *sge, int num_sge,
		const uint8_t *from, size_t length)
{
	uint64_t address;
	size_t part;
	int i;

	for (i = 0; i < num_sge && length; i++, from += part, length -= part) {
		part = sge[i].length < length ? sge[i].length : length;
		address = place_of(pd, &sge[i], (uint32_t)part, IBV_ACCESS_LOCAL_WRITE);
		if (!address || sim_write_memory(pd->object.program, address, from, part))
			return EFAULT;
	}
	return 0;
}
