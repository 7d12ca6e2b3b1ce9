/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Memory of the program's own, shared by two connections: sends it to epoll_server or srq_server, in
 * turn over one and the other, and takes what comes back into other memory. Each is registered once,
 * for both, in the PD of a shared device.
 *
 *     memory_client ADDRESS PORT malloc|huge|FILE
 *
 * The memory is 4 MiB from malloc, or of huge pages, or a file. Nothing copies it before it is sent.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "our_control.h"

#define LENGTH    (4ul << 20)
#define CHUNK     4096 /* bytes in a message: srq_server takes no longer ones */
#define N_CLIENTS 2

/* The memory that is sent, and the memory into which the echo is received. */
struct memory {
	uint8_t *sent, *received;
	size_t length;
	struct ibv_mr *sent_mr, *received_mr;
};

static void report(void *context, const struct our_error *error)
{
	char text[600];

	(void)context;
	fprintf(stderr, "memory_client: %s\n", our_error_text(error, text, sizeof(text)));
}

/* ---- The memory, of any kind ---- */

static void *map_file(const char *path, size_t *length)
{
	int fd = open(path, O_RDONLY);
	void *data = MAP_FAILED;
	struct stat about;

	if (fd < 0)
		return MAP_FAILED;
	if (!fstat(fd, &about)) {
		*length = (size_t)about.st_size;
		data = mmap(NULL, *length, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	close(fd);
	return data;
}

/* Makes the memory, or says why not and returns false. In both cases free_memory undoes it. */
static bool make_memory(const char *kind, struct memory *memory)
{
	bool huge = !strcmp(kind, "huge"), heap = !strcmp(kind, "malloc");

	memory->length = LENGTH;
	if (heap)
		memory->sent = malloc(LENGTH);
	else if (huge)
		memory->sent = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	else
		memory->sent = map_file(kind, &memory->length);
	memory->received = calloc(1, memory->length);
	if (!memory->sent || memory->sent == MAP_FAILED || !memory->received) {
		fprintf(stderr, "memory_client: %s: %s\n", kind, strerror(errno));
		return false;
	}
	if (heap || huge)
		memset(memory->sent, 0x5a, LENGTH);
	return true;
}

static void free_memory(const char *kind, const struct memory *memory)
{
	free(memory->received);
	if (!strcmp(kind, "malloc"))
		free(memory->sent);
	else if (memory->sent != MAP_FAILED)
		munmap(memory->sent, memory->length);
}

/* Only memory to receive into has to be writable, so a file need not be. */
static int register_memory(struct our_device *device, struct memory *memory)
{
	int ret;

	ret = our_device_setup_mr(device, memory->sent, memory->length, 0, &memory->sent_mr);
	if (ret)
		return ret;
	return our_device_setup_mr(device, memory->received, memory->length, IBV_ACCESS_LOCAL_WRITE,
				   &memory->received_mr);
}

static void deregister_memory(const struct our_config *config, const struct memory *memory)
{
	if (memory->sent_mr)
		our_unsetup_mr(config, memory->sent_mr);
	if (memory->received_mr)
		our_unsetup_mr(config, memory->received_mr);
}

/* ---- The two connections ---- */

/* The first one finds the device for both. */
static int setup_client(const struct our_config *config, struct sockaddr *server,
			struct our_device **device, struct our_control **client)
{
	int ret;

	ret = our_create_control_struct(config, OUR_CLIENT, client);
	if (!ret)
		ret = our_create_id(*client);
	if (!ret)
		ret = our_client_bind(*client, server);
	if (!ret && !*device)
		ret = our_create_device(config, (*client)->verbs, device);
	if (!ret)
		ret = our_use_device(*client, *device);
	return ret ? ret : our_setup_qp(*client, 1, 1);
}

static uint32_t length_of(const struct memory *memory, size_t offset)
{
	return memory->length - offset < CHUNK ? (uint32_t)(memory->length - offset) : CHUNK;
}

/* Posts a receive for the echo of the message at this offset, if there is one. */
static int post_recv(struct our_control *client, const struct memory *memory, size_t offset)
{
	if (offset >= memory->length)
		return 0;
	return our_post_recv_into(client, memory->received + offset, length_of(memory, offset),
				  memory->received_mr, 0);
}

/*
 * Sends a message and gets it back; the send and the receive complete in either order. Then posts
 * the receive for the connection's next message.
 */
static int exchange(struct our_control *client, const struct memory *memory, size_t offset)
{
	struct our_completion completion;
	int ret, i;

	ret = our_post_send_from(client, memory->sent + offset, length_of(memory, offset),
				 memory->sent_mr, 0);
	for (i = 0; i < 2 && !ret; i++)
		ret = our_await_completion(client, &completion);
	if (!ret)
		ret = post_recv(client, memory, offset + N_CLIENTS * CHUNK);
	ret = our_report_end(client, ret);
	if (ret == ECONNRESET)
		fprintf(stderr, "memory_client: the server has left\n");
	return ret;
}

static int run(const struct our_config *config, struct sockaddr *server, struct memory *memory)
{
	struct our_control *clients[N_CLIENTS] = { NULL };
	struct our_device *device = NULL;
	size_t offset, i;
	int ret = 0;

	for (i = 0; i < N_CLIENTS && !ret; i++)
		ret = setup_client(config, server, &device, &clients[i]);
	if (!ret)
		ret = register_memory(device, memory);
	for (i = 0; i < N_CLIENTS && !ret; i++) {
		ret = post_recv(clients[i], memory, i * CHUNK);
		if (!ret)
			ret = our_client_connect(clients[i], NULL, 0);
	}
	for (offset = 0; offset < memory->length && !ret; offset += CHUNK)
		ret = exchange(clients[offset / CHUNK % N_CLIENTS], memory, offset);
	for (i = 0; i < N_CLIENTS; i++)
		our_close(clients[i]);
	deregister_memory(config, memory); /* no connection can use it any more */
	our_close_device(device);
	return ret;
}

int main(int argc, char **argv)
{
	struct our_config config = {
		.waiting = { .cm = &our_cm_nonblocking, .completions = &our_nonblocking_channel },
		.report = report,
		.timeout_s = 10,
		.keepalive_s = 5,
	};
	struct memory memory = { .length = 0 };
	struct addrinfo *server;
	int ret;

	if (argc != 4) {
		fprintf(stderr, "usage: memory_client ADDRESS PORT malloc|huge|FILE\n");
		return 2;
	}
	ret = getaddrinfo(argv[1], argv[2], NULL, &server);
	if (ret) {
		fprintf(stderr, "memory_client: %s: %s\n", argv[1], gai_strerror(ret));
		return 2;
	}
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	ret = make_memory(argv[3], &memory) ? run(&config, server->ai_addr, &memory) : ENOMEM;
	if (!ret && memcmp(memory.sent, memory.received, memory.length)) {
		fprintf(stderr, "memory_client: something came back changed\n");
		ret = EPROTO;
	}
	if (!ret)
		printf("%zu bytes there and back over %d connections\n", memory.length, N_CLIENTS);
	free_memory(argv[3], &memory);
	freeaddrinfo(server);
	if (fflush(stdout)) {
		perror("memory_client: stdout");
		ret = EIO;
	}
	return ret ? 1 : 0;
}
