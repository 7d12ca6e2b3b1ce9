/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * devices --check: checks of this machine, for any address: drivers, device nodes, libraries,
 * memory that may be locked. See check.h.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "devices/check.h"

#define ENOUGH_LOCKED (1ul << 20) /* bytes that the check tries to register */

static const char get_a_device[] =
	"any network device can carry a software one: `modprobe rdma_rxe; rdma link add rxe0 type rxe "
	"netdev NETDEV` (soft-RoCE; `siw` instead of `rxe` is soft-iWARP), as root; where the kernel has "
	"no such module, or in a container, `lab/run -- COMMAND` runs a command in a machine that has both";

static const char give_a_device[] =
	"outside of the container, as root: `rdma dev set DEVICE netns NAMESPACE`, or, before the first "
	"other namespace, `rdma system set netns shared`: then each namespace has all devices "
	"(docs/containers.md)";

/* Counts the entries of a directory whose names begin so; -1: there is no such directory. */
static int count_entries(const char *path, const char *prefix)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	int n = 0;

	if (!directory)
		return -1;
	while ((entry = readdir(directory)))
		n += entry->d_name[0] != '.' && !strncmp(entry->d_name, prefix, strlen(prefix));
	closedir(directory);
	return n;
}

enum check_verdict check_kernel_device(struct check *check)
{
	int n = count_entries("/sys/class/infiniband", "");
	int elsewhere = count_entries("/sys/class/infiniband_verbs", "uverbs");

	if (n < 0)
		return check_fail(check, get_a_device, "no RDMA driver is loaded");
	if (!n && elsewhere > 0)
		return check_fail(check, give_a_device,
				  "the kernel has %d RDMA device%s, but none in this network "
				  "namespace",
				  elsewhere, elsewhere == 1 ? "" : "s");
	if (!n)
		return check_fail(check, get_a_device, "the kernel has no RDMA device");
	return check_say(check, CHECK_OK, "the kernel has %d RDMA device%s", n, n == 1 ? "" : "s");
}

enum check_verdict check_verbs_node(struct check *check)
{
	int n = count_entries("/sys/class/infiniband_verbs", "uverbs");

	if (n < 0)
		return check_fail(
			check, "`modprobe ib_uverbs`, as root",
			"the module ib_uverbs is not loaded: no program can use a device");
	if (!n)
		return check_say(check, CHECK_SKIPPED, "there is no device");
	if (count_entries("/dev/infiniband", "uverbs") <= 0)
		return check_fail(
			check,
			"let udev make them; or give them to the container: docker run --device "
			"/dev/infiniband/uverbs0 --device /dev/infiniband/rdma_cm --cap-add IPC_LOCK",
			"the device nodes /dev/infiniband/uverbs* are missing");
	return check_say(check, CHECK_OK, "%d device node%s /dev/infiniband/uverbs*", n,
			 n == 1 ? "" : "s");
}

enum check_verdict check_cm_node(struct check *check)
{
	const char *node = "/dev/infiniband/rdma_cm";

	if (!access(node, R_OK | W_OK))
		return check_say(check, CHECK_OK, "%s", node);
	if (errno != ENOENT)
		return check_fail(check,
				  "run as root, or `chmod 666` the node (udev's rules for RDMA do)",
				  "%s: %s", node, strerror(errno));
	if (access("/sys/class/misc/rdma_cm", F_OK))
		return check_fail(check, "`modprobe rdma_ucm`, as root",
				  "the module rdma_ucm is not loaded: no connection manager");
	return check_fail(check,
			  "let udev make it; or give it to the container: docker run --device "
			  "/dev/infiniband/rdma_cm",
			  "the device node %s is missing", node);
}

/*
 * Finds what libibverbs says on stderr about a driver whose ABI it does not know: no call of the library
 * tells it. Returns false if all ABIs fit.
 */
static bool find_wrong_abi(char text[CHECK_TEXT / 2])
{
	FILE *file = tmpfile();
	int kept = dup(STDERR_FILENO);
	struct ibv_device **list;
	bool found = false;

	if (file && kept >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0) {
		list = ibv_get_device_list(NULL);
		if (list)
			ibv_free_device_list(list);
		dup2(kept, STDERR_FILENO);
		rewind(file);
		while (!found && fgets(text, CHECK_TEXT / 2, file))
			found = strstr(text, "kernel ABI");
		text[strcspn(text, "\n")] = '\0';
	}
	if (file)
		fclose(file);
	if (kept >= 0)
		close(kept);
	return found;
}

enum check_verdict check_library(struct check *check)
{
	int kernels = count_entries("/sys/class/infiniband", "");
	char abi[CHECK_TEXT / 2] = "";
	bool has_wrong_abi;
	int ret;

	if (kernels <= 0 || count_entries("/sys/class/infiniband_verbs", "uverbs") <= 0)
		return check_say(check, CHECK_SKIPPED, "libibverbs has nothing to open");
	has_wrong_abi = find_wrong_abi(abi);
	ret = devices_open(&check->devices, NULL);
	check->opened = true;
	if (check->devices.n_unopened)
		return check_fail(check, "run as root, or `chmod 666 /dev/infiniband/uverbs*`",
				  "%d device%s cannot be opened", check->devices.n_unopened,
				  check->devices.n_unopened == 1 ? "" : "s");
	if (has_wrong_abi)
		return check_fail(
			check,
			"install the rdma-core that belongs to the kernel's driver: the vendor's "
			"package has both; a container needs the same one as its host",
			"a driver of the kernel and its library do not fit each other: %s", abi);
	if (ret == ENODEV)
		return check_fail(check, "apt-get install ibverbs-providers",
				  "libibverbs knows none of the kernel's %d devices: it has no "
				  "user-space driver for them",
				  kernels);
	if (ret)
		return check_fail(check, "see the message on stderr", "a device does not answer");
	return check_say(check, CHECK_OK, "libibverbs can open %zu of %d", check->devices.n,
			 kernels);
}

static const char *limit_text(rlim_t limit, char *text, size_t size)
{
	if (limit == RLIM_INFINITY)
		snprintf(text, size, "unlimited");
	else
		snprintf(text, size, "%llu KiB", (unsigned long long)limit / 1024);
	return text;
}

/* Returns 0, or why this much memory cannot be registered. */
static int try_to_register(struct ibv_context *verbs, size_t size)
{
	struct ibv_pd *pd = ibv_alloc_pd(verbs);
	void *memory = malloc(size);
	struct ibv_mr *mr = NULL;
	int ret = ENOMEM;

	if (pd && memory) {
		mr = ibv_reg_mr(pd, memory, size, IBV_ACCESS_LOCAL_WRITE);
		ret = mr ? 0 : errno;
	}
	if (mr)
		ibv_dereg_mr(mr);
	free(memory);
	if (pd)
		ibv_dealloc_pd(pd);
	return ret;
}

/* Root may lock more than its limit, so this tries to lock, and does not only read the limit. */
enum check_verdict check_memlock(struct check *check)
{
	const struct devices_device *device = check->device;
	struct rlimit limit;
	char text[32];
	int error;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return check_say(check, CHECK_UNKNOWN, "getrlimit: %s", strerror(errno));
	limit_text(limit.rlim_cur, text, sizeof(text));
	if (!device && check->devices.n)
		device = &check->devices.all[0];
	if (!device)
		return check_say(check, CHECK_SKIPPED,
				 "no device to try it with; the limit on locked memory is %s",
				 text);
	error = try_to_register(device->verbs, ENOUGH_LOCKED);
	if (error)
		return check_fail(
			check,
			"`ulimit -l unlimited`; for good: a line `* - memlock unlimited` in "
			"/etc/security/limits.d/rdma.conf, and log in again; for a service "
			"LimitMEMLOCK=infinity",
			"1 MiB cannot be registered: %s; the limit on locked memory is %s",
			strerror(error), text);
	return check_say(check, CHECK_OK,
			 "1 MiB can be registered; the limit on locked memory is %s", text);
}
