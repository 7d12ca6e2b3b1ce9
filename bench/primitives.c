/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Measures, in some seconds and before any load runs, the parts of ways of waiting: a poll, an
 * arming, a wake-up, and a message after pauses, to an end that polls or sleeps. Place: started by
 * bench/compare and bench/predict. Contract: prints one line of JSON; law.md says what each figure
 * is. Both ends of a connection are on this machine, each on a CPU: the child receives.
 */
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/meter.h"
#include "common/clock.h"
#include "common/roles.h"
#include "ping-sr-5/spin.h"

#define SIZE    64
#define CALLS   20000 /* repetitions of a short call */
#define LIMIT_S 5     /* limit of each wait */
#define MS      UINT64_C(1000000)

/* Memory that both processes share. */
struct shared {
	_Atomic int port;           /* the child's listener's; 0: not yet */
	_Atomic bool echoes;        /* the child sends each message back */
	_Atomic uint64_t posted_ns; /* time of the last message */
	_Atomic uint64_t took_ns;   /* time from sent_ns until the child had it */
	_Atomic uint64_t taken;     /* number of messages so far */
};

struct poster {
	struct shared *shared;
	struct our_control *control;
	uint64_t pause_ns; /* before each message */
	uint64_t posted;
};

static void report(void *context, const struct our_error *error)
{
	char text[600];

	(void)context;
	fprintf(stderr, "primitives: %s\n", our_error_text(error, text, sizeof(text)));
}

/* Both ends wait as a program does: this is the code of ping-sr-2, or of ping-sr-3. */
static struct our_config config = {
	.waiting = { .cm = &our_cm_nonblocking },
	.report = report,
	.timeout_s = LIMIT_S,
};

/* ---- The child ---- */

static int receive(struct shared *shared, struct our_control *agent)
{
	int ret;

	atomic_store(&shared->took_ns, our_now_ns() - atomic_load(&shared->posted_ns));
	ret = our_post_recv(agent, 0);
	atomic_fetch_add(&shared->taken, 1);
	if (!ret && atomic_load(&shared->echoes))
		ret = our_post_send(agent, 0, SIZE);
	return ret;
}

static int set_up(struct our_control *control)
{
	int ret = our_setup_qp(control, 2, 2);

	if (!ret)
		ret = our_setup_buffers(control, 1, SIZE, IBV_ACCESS_LOCAL_WRITE);
	return ret ? ret : our_post_recv(control, 0);
}

/* Takes one client, and its messages until it leaves. */
static int be_child(struct shared *shared, struct sockaddr *address)
{
	struct our_control *listener = NULL, *agent = NULL;
	struct our_completion completion;
	int ret;

	ret = our_create_control_struct(&config, OUR_LISTENER, &listener);
	if (!ret)
		ret = our_create_id(listener);
	if (!ret)
		ret = our_listener_bind(listener, address, 1);
	if (!ret) {
		atomic_store(&shared->port, rdma_get_src_port(listener->cm_id));
		ret = our_get_request(listener, &agent);
	}
	if (!ret)
		ret = our_migrate_id(agent);
	if (!ret)
		ret = set_up(agent);
	if (!ret)
		ret = our_agent_connect(agent, NULL, 0);
	while (!ret) {
		ret = our_await_completion(agent, &completion);
		if (!ret && our_is_recv(completion.wr_id))
			ret = receive(shared, agent);
	}
	our_close(agent);
	our_close(listener);
	return ret;
}

/* ---- The parent ---- */

/* Waits, busily, until the child has the last message. */
static int await_taken(struct poster *poster, struct our_told *told)
{
	uint64_t begun_ns = our_now_ns(), waited_ns = 0;

	while (atomic_load(&poster->shared->taken) != poster->posted) {
		waited_ns = our_now_ns() - begun_ns;
		if (waited_ns > LIMIT_S * OUR_NS_PER_S)
			return ETIMEDOUT;
	}
	told->spun_ns = waited_ns;
	told->reached_ns = atomic_load(&poster->shared->took_ns);
	return 0;
}

/* Makes a pause, and sends a message: one way, or there and back. Awaits the send's end, too. */
static int message(void *context, struct our_told *told)
{
	struct our_completion completion;
	struct poster *poster = context;
	bool echoes = atomic_load(&poster->shared->echoes);
	int ret = EAGAIN, n;

	if (poster->pause_ns)
		ret = our_await_time(poster->control, our_now_ns() + poster->pause_ns, &completion);
	if (ret != EAGAIN)
		return ret ? ret : EPROTO;
	ret = await_taken(poster, told); /* the previous send */
	if (ret)
		return ret;
	atomic_store(&poster->shared->posted_ns, our_now_ns());
	poster->posted++;
	ret = our_post_send(poster->control, 0, SIZE);
	for (n = 0; !ret && n < 1 + echoes; n++)
		ret = our_await_completion(poster->control, &completion);
	if (ret || !echoes)
		return ret;
	told->reached_ns = our_now_ns() - atomic_load(&poster->shared->posted_ns);
	return our_post_recv(poster->control, 0);
}

/* Measures messages after pauses: longer ones cool caches and CPU. Then round trips without. */
static int print_messages(struct poster *poster, const struct our_meter *meter)
{
	static const struct {
		uint64_t pause_ns, for_ns;
	} pauses[] = { { MS / 10, 400 * MS },
		       { MS / 2, 400 * MS },
		       { 2 * MS, 600 * MS },
		       { 7 * MS, 1000 * MS },
		       { 50 * MS, 2000 * MS } };
	struct our_told told;
	struct our_cost cost;
	size_t i;
	int ret;

	printf("{\"cpus\": %u, \"pauses\": [", meter->cpus);
	for (i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
		poster->pause_ns = pauses[i].pause_ns;
		ret = our_meter_step(meter, message, poster, pauses[i].for_ns, &cost);
		if (ret)
			return ret;
		printf("%s{\"period_us\": %.2f, \"busy_us\": %.2f, \"reached_us\": %.2f}",
		       i ? ", " : "", cost.wall_us, cost.busy_us, cost.reached_us);
	}
	ret = await_taken(poster, &told); /* the last message does not come back */
	if (ret)
		return ret;
	poster->pause_ns = 0;
	atomic_store(&poster->shared->echoes, true);
	ret = our_meter_step(meter, message, poster, 400 * MS, &cost);
	if (!ret)
		printf("], \"trip_us\": %.2f, \"trip_busy_us\": %.2f", cost.reached_us,
		       cost.busy_us);
	return ret;
}

static int print_calls(struct our_control *control)
{
	uint64_t begun_ns = our_now_ns(), armed_ns, polled_ns, wake_up_ns;
	struct ibv_wc wc;
	int i, ret = 0;

	for (i = 0; i < CALLS && !ret; i++)
		ret = ibv_req_notify_cq(control->cq, 0);
	armed_ns = our_now_ns();
	for (i = 0; i < CALLS && !ret; i++)
		ret = ibv_poll_cq(control->cq, 1, &wc) ? EPROTO : 0;
	polled_ns = our_now_ns();
	if (!ret)
		ret = our_measure_wake_up(&config, &wake_up_ns);
	if (!ret)
		printf(", \"arm_us\": %.3f, \"poll_us\": %.3f, \"wake_up_us\": %.2f}\n",
		       (double)(armed_ns - begun_ns) / OUR_NS_PER_US / CALLS,
		       (double)(polled_ns - armed_ns) / OUR_NS_PER_US / CALLS,
		       (double)wake_up_ns / OUR_NS_PER_US);
	return ret;
}

static int connect_poster(struct poster *poster, struct sockaddr *address)
{
	uint16_t *port = address->sa_family == AF_INET6
				 ? &((struct sockaddr_in6 *)address)->sin6_port
				 : &((struct sockaddr_in *)address)->sin_port;
	int ret, ms;

	for (ms = 0; !atomic_load(&poster->shared->port); ms++) {
		if (ms == LIMIT_S * 1000)
			return ECONNREFUSED; /* the child has reported the reason */
		usleep(1000);
	}
	*port = (uint16_t)atomic_load(&poster->shared->port);
	ret = our_create_control_struct(&config, OUR_CLIENT, &poster->control);
	if (!ret)
		ret = our_create_id(poster->control);
	if (!ret)
		ret = our_client_bind(poster->control, address);
	if (!ret)
		ret = set_up(poster->control);
	*port = 0;
	return ret ? ret : our_client_connect(poster->control, NULL, 0);
}

/* Pins a process to the CPU number `n`, from 0, of those allowed to this program, if it exists. */
static void pin(pid_t process, const cpu_set_t *allowed, int n)
{
	cpu_set_t one;
	size_t cpu;

	CPU_ZERO(&one);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, allowed) && n-- == 0)
			CPU_SET(cpu, &one);
	}
	if (CPU_COUNT(&one))
		sched_setaffinity(process, sizeof(one), &one);
}

static int measure(struct sockaddr *address)
{
	struct our_meter meter = our_real_meter;
	struct poster poster = { 0 };
	cpu_set_t allowed;
	pid_t child;
	int ret;

	meter.cpus = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	poster.shared = mmap(NULL, sizeof(*poster.shared), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (poster.shared == MAP_FAILED || sched_getaffinity(0, sizeof(allowed), &allowed))
		return errno;
	child = fork();
	if (child < 0)
		return errno;
	if (!child)
		_exit(be_child(poster.shared, address) == ECONNRESET ? 0 : 1);
	pin(0, &allowed, 0);
	pin(child, &allowed, 1);
	ret = connect_poster(&poster, address);
	if (!ret)
		ret = print_messages(&poster, &meter);
	sched_setaffinity(0, sizeof(allowed), &allowed);
	if (!ret)
		ret = print_calls(poster.control);
	our_close(poster.control);
	kill(child, SIGTERM); /* in case nothing was connected */
	waitpid(child, NULL, 0);
	return ret;
}

int main(int argc, char **argv)
{
	struct addrinfo *address;
	int ret;

	if (argc == 3 && !strcmp(argv[1], "polled"))
		config.waiting.completions = &our_busy_polling;
	if (argc == 3 && !strcmp(argv[1], "asleep"))
		config.waiting.completions = &our_comp_channel;
	if (!config.waiting.completions || getaddrinfo(argv[2], "0", NULL, &address)) {
		fprintf(stderr, "usage: primitives polled|asleep ADDRESS: of an RDMA device\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	ret = measure(address->ai_addr);
	freeaddrinfo(address);
	if (ret)
		fprintf(stderr, "primitives: %s\n", strerror(ret));
	return ret ? 1 : 0;
}
