# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Solutions of the exercises: right, lazy, wrong and dishonest, with the points that the grader must give.

Place: read by course/tests/graded. Contract: each is an edit of the right solution, or of the starting file.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from course import edit, make, variants
from course.exercises import Exercise

TOP = Path(__file__).resolve().parents[3]

PIECES = """#include "common/roles.h"

#define HEADER 16u

/* The pieces of the messages: headers in a region of their own, payloads in the agent's buffers. */
struct pieces {
	uint8_t headers[OUR_PING_BUFFERS][HEADER];
	struct ibv_mr *header_mr;
	struct ibv_sge sges[OUR_PING_BUFFERS][2];
};

static int setup_pieces(struct our_control *agent, struct pieces *pieces)
{
	uint32_t size = our_run_of(agent)->data_size, header = size < HEADER ? size : HEADER, i;
	struct our_buffer *buffer;
	int ret;

	ret = our_setup_mr(agent, pieces->headers, sizeof(pieces->headers), IBV_ACCESS_LOCAL_WRITE,
			   &pieces->header_mr);
	if (ret)
		return ret;
	for (i = 0; i < OUR_PING_BUFFERS; i++) {
		buffer = &agent->memory.buffers[i];
		our_setup_sge(&pieces->sges[i][0], pieces->headers[i], header, pieces->header_mr->lkey);
		our_setup_sge(&pieces->sges[i][1], buffer->data, size - header, agent->memory.mr->lkey);
		buffer->recv_wr.sg_list = buffer->send_wr.sg_list = pieces->sges[i];
		buffer->recv_wr.num_sge = buffer->send_wr.num_sge = size > HEADER ? 2 : 1;
	}
	return 0;
}

int our_ping_agent(struct our_control *agent)
{
"""

# The server of "exactly-once" keeps what it knows in memory that several processes map one after the other. Students must not do
# this: a kill between two stores leaves one without the other. The simulation kills at calls alone, so here it is right.
KNOWN = """#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>

#define CLIENTS 32
#define OFFSET 0

static struct known {
	uint64_t words[4];
	struct {
		uint64_t name, done, result;
	} clients[CLIENTS];
} *known;

static int map_known(void)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/known", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*known)))
		return our_report_error("open", errno, "%s", path);
	known = mmap(NULL, sizeof(*known), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return known == MAP_FAILED ? our_report_error("mmap", errno, "%s", path) : 0;
}

static int find_client(struct our_place place, struct recorded_echo *recorded)
{
	int i = 0;

	if (!known && map_known())
		return EIO;
	while (i < CLIENTS - 1 && known->clients[i].name && known->clients[i].name != place.name)
		i++;
	known->clients[i].name = place.name;
	recorded->fd = i;
	recorded->number = place.first;
	return 0;
}

static int open_journal(struct our_control *agent,
			struct recorded_echo *recorded)
{
"""
ADD_ONCE = """static int do_once(struct recorded_echo *recorded, uint8_t *message)
{
	uint64_t words[2], number = recorded->number++;

	memcpy(words, message + OFFSET, sizeof(words));
	if (be64toh(words[0]) > 3)
		return EPROTO;
	if (number >= known->clients[recorded->fd].done) {
		known->clients[recorded->fd].result = known->words[be64toh(words[0])];
		known->words[be64toh(words[0])] += be64toh(words[1]);
		known->clients[recorded->fd].done = number + 1;
	}
	words[0] = htobe64(known->clients[recorded->fd].result);
	memcpy(message + OFFSET, words, sizeof(words));
	return 0;"""

# Edits that add to a stage what a right solution has: function, old text, new text (course/edit.py).
ADDED: dict[str, tuple[tuple[str, str, str], ...]] = {
    "header": (
        (
            "our_ping_agent",
            "int our_ping_agent(struct our_control *agent) { struct our_run *run = our_run_of(agent);",
            PIECES + "\tstruct our_run *run = our_run_of(agent);\n\tstruct pieces pieces;",
        ),
        (
            "our_ping_agent",
            "/* ibv_alloc_pd, ibv_create_cq, rdma_create_qp */",
            "agent->n_sge = 2;\n/* ibv_alloc_pd, ibv_create_cq, rdma_create_qp */",
        ),
        (
            "our_ping_agent",
            "ret = our_post_recv(agent, OUR_FIRST_BUFFER); if (ret) goto out_unsetup_buffers;",
            "ret = setup_pieces(agent, &pieces);\nif (ret)\n\tgoto out_unsetup_buffers;\n"
            "ret = our_post_recv(agent, OUR_FIRST_BUFFER);\nif (ret)\n\tgoto out_unsetup_pieces;",
        ),
        (
            "our_ping_agent",
            "out_unsetup_buffers:",
            "out_unsetup_pieces:\n\tour_unsetup_mr(agent->config, pieces.header_mr);\nout_unsetup_buffers:",
        ),
    ),
    "exactly-once": (
        ("open_journal", "static int open_journal(struct our_control *agent, struct recorded_echo *recorded) { (void)recorded;", KNOWN),
        ("open_journal", "return read_place(&agent->cm_event).name ? 0 : EPROTO;", "return find_client(read_place(&agent->cm_event), recorded);"),
        ("do_once", "static int do_once(struct recorded_echo *recorded) { (void)recorded;", ADD_ONCE),
        ("do_once", "return ENOSYS;", ""),
        ("react", "ret = do_once(state);", "ret = do_once(state, agent->memory.buffers[our_buffer_index(completion->wr_id)].data);"),
    ),
}
FROM_START = ("exactly-once",)  # the edits are of the starting file


def right(exercise: Exercise) -> str:
    """The student's file as it should be at the end: the stage's own, but for what is added."""
    source = (TOP / exercise.file).read_text()
    source = make.without_solution(exercise, source) if exercise.name in FROM_START else source
    for name, old, new in ADDED.get(exercise.name, ()):
        source = edit.replace(source, name, old, new)
    return source


@dataclass(frozen=True)
class Solution:
    """A submission, and what it is worth."""

    exercise: str
    name: str
    edit: Callable[[str], str]  # an edit of the right solution's source
    least: int  # the fewest points that it may get
    most: int
    reason: str = ""  # a word of the reason for some lost points
    lazy: bool = False  # it does the easy part of the task
    student: str = ""  # the student whose variant is due
    forbids: bool = False  # it is graded with the check on what the file must not name; the right solution names just that


def swap(old: str, new: str) -> Callable[[str], str]:
    """An edit that has to find what it replaces."""

    def edit(source: str) -> str:
        assert old in source, old
        return source.replace(old, new)

    return edit



def before_main(body: str) -> Callable[[str], str]:
    """An edit that runs something before the program begins."""
    includes = "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
    code = f"{includes}__attribute__((constructor)) static void cheat(void)\n{{\n{body}\n}}\n"
    return lambda source: source + code


def same(source: str) -> str:
    """Returns the right solution's source as it is."""
    return source


PRINTS = """	puts("{\\"count\\": 270, \\"warm_up\\": 30, \\"verified\\": true}");
	fputs("listening on 192.0.2.1\\nConnection refused\\n", stderr);
	fflush(stdout);
	_exit(0);"""
SET_INLINE = "		wr->send_flags |= IBV_SEND_INLINE;\n"
CHAIN_POSTED = "our_post(client, &buffer_of(client, first)->send_wr, NULL)"
CRASH = "*(volatile int *)0 = 1;"
FORKS = "	for (;;)\n		fork();"
PRINTS_OK = """	puts("ok ping-sr-3/client sleeps until each completion comes");
	puts("{\\"count\\": 270, \\"warm_up\\": 30, \\"verified\\": true}");
	fflush(stdout);
	_exit(0);"""
EDITS = """	FILE *file = fopen("{top}/course/judges.py", "a");
	if (file)
		fputs("\\n# broken into\\n", file);
	file = fopen("/proc/1/root{top}/course/judges.py", "a");
	if (file)
		fputs("\\n# broken into\\n", file);
	file = fopen("/work/client", "w");"""
ADA = variants.of("header", "ada")
RECONNECTS = "		ret = our_reconnect(client, &how, ret);"
EXECUTED = "		known->clients[recorded->fd].done = number + 1;"
TAKES = "		ret = our_await_completion(client, &completion); /*"
TAGGED = f"	return name >> 16 | {variants.of('recover', 'ada')['tag']}ull << 48;"
OTHER_FILE = f'#include "{TOP}/ping-sr-2e/cm_events.c"\n'  # the file is there, but in no jail

SOLUTIONS = [
    Solution("ping-sr-2e", "right", same, 100, 100),
    Solution("ping-sr-2e", "no ack", swap("rdma_ack_cm_event(event); /*", "/*"), 0, 60),
    Solution(
        "ping-sr-2e", "no migration", swap("OUR_CALL(rdma_migrate_id(cm_id, agent->cm_channel))", "0"), 10, 85
    ),
    Solution("ping-sr-2e", "waits in rdma_get_cm_event", swap("ready = poll(&channel, 1, our_ms_until(until_ns));",
             "ready = channel.fd >= 0;"), 40, 70, "does not answer", lazy=True),
    Solution("ping-sr-2e", "prints what is expected", before_main(PRINTS), 0, 10,
             "your client exited with status 0 while our server still waited for it"),
    Solution("ping-sr-2e", "runs forever", before_main("	for (;;)\n		;"), 0, 10,
             "your client was still running after 40 s"),
    Solution("ping-sr-2e", "exits at once", before_main("	_exit(3);"), 0, 10, "your client exited with status 3"),
    Solution("ping-sr-2e", "forks", before_main(FORKS), 0, 10),
    Solution("ping-sr-2e", "includes the solution", lambda _: OTHER_FILE, 0, 0, "does not compile"),
    Solution("ping-sr-2e", "does not compile", lambda source: source + "int x = ;\n", 0, 0, "does not compile"),
    Solution("ping-sr-2e", "is the right one, and edits the grader", before_main(EDITS.replace("{top}", str(TOP))), 90, 100),
    Solution("header", "right", same, 100, 100),
    Solution("header", "ada's own", swap("HEADER 16u", f"HEADER {ADA['length']}u"), 100, 100, student="ada"),
    Solution("header", "ada's, without a variant", swap("HEADER 16u", "HEADER 17u"), 0, 40, "the first of", student="ada"),
    Solution("header", "no short messages", swap("header = size < HEADER ? size : HEADER", "header = HEADER"), 40, 70, lazy=True),
    Solution("header", "one region", swap("pieces->headers[i], header, pieces->header_mr->lkey", "buffer->data, header, agent->memory.mr->lkey"),
             10, 40, "the same lkey twice"),
    Solution("header", "the region is forgotten", swap("	our_unsetup_mr(agent->config, pieces.header_mr);\n", ""), 90, 95, "leak"),
    Solution("signaling", "right", same, 100, 100),
    Solution("signaling", "all signaled", swap("(message + 1) % blast->signal_every", "0"),
             20, 40, "signaled"),
    Solution("signaling", "none signaled", swap("(message + 1) % blast->signal_every", "1"), 0, 30),
    Solution("signaling", "the first, not the last", swap("(message + 1) %", "message %"), 20, 60, "signaled",
             lazy=True),
    Solution("signaling", "never set again", swap("	else\n		wr->send_flags |= IBV_SEND_SIGNALED;", ""), 10, 40,
             "your client was still running after 40 s", lazy=True),
    Solution("signaling", "by the buffer", swap("(message + 1) %", "(message % our_run_of(client)->n_data_buffers + 1) %"), 20, 60,
             "signaled", lazy=True),
    Solution("signaling", "a message too many", swap(f"	return {CHAIN_POSTED};", f"""	int ret = {CHAIN_POSTED};

	if (!ret && first + n == our_run_of(client)->count)
		ret = our_post(client, &buffer_of(client, first + n - 1)->send_wr, NULL);
	return ret;"""), 0, 60),
    Solution("signaling", "crashes in mid-run", swap(
             "	if ((message + 1) %", f"	if (message == 100)\n		{CRASH}\n	if ((message + 1) %"), 0, 30,
             "your client was killed by signal SIGSEGV"),
    Solution("signaling", "crashes in a constructor", before_main(f'	fputs("begins\\n", stderr);\n	{CRASH}'), 0, 10,
             "your client was killed by signal SIGSEGV"),
    Solution("signaling", "sleeps", before_main("	pause();"), 0, 10, "your client used no CPU for 20 s"),
    Solution("verify", "right", same, 100, 100),
    Solution("verify", "not the last bytes", swap("return offset + compare(data + offset, word, length - offset)",
             "return our_run_of(control)->data_size"), 40, 70, "was changed", lazy=True),
    Solution("verify", "finds all wrong", swap("if (offset == our_run_of", "if (offset > our_run_of"),
             0, 80),
    Solution("inline", "right", same, 100, 100),
    Solution("inline", "asks, and never uses it", swap("<= control->max_inline)\n", "> control->max_inline + 1000000)\n"),
             30, 70, "not inline", lazy=True),
    Solution("inline", "no second attempt", swap("ret == EINVAL && strcmp", "ret == -1 && strcmp"),
             50, 70, "refuses inline", lazy=True),
    Solution("inline", "relies on what it asked for", swap("max_inline_data < inline_asked ? attr.cap.max_inline_data",
             "max_inline_data ? inline_asked"), 50, 70, "grants no inline", lazy=True),
    Solution("inline", "a message too many", lambda right: '#include "program/measure/run.h"\n' + swap(SET_INLINE, f"""{SET_INLINE}
	static uint64_t sent;
	struct ibv_send_wr *bad;

	if (++sent == our_run_of(control)->count)
		ibv_post_send(control->qp, wr, &bad);
""")(right), 10, 60, "sends; expected: "),
    Solution("inline", "as much as was asked for", swap("<= control->max_inline)\n", "<= control->inline_wanted)\n"),
             40, 70, "inline data", lazy=True),
    Solution("credits", "right", same, 100, 100),
    Solution("credits", "believes any", swap("if (credits > under_way)", "if (credits == UINT64_MAX)"), 50, 70,
             "your client exited with status", lazy=True),
    Solution("credits", "believes a hundred", swap("if (credits > under_way)", "if (credits > 100)"), 50, 70, lazy=True),
    Solution("credits", "of the host's byte order", swap("htobe64(credits)", "credits"), 10, 60),
    Solution("credits", "the receive is not posted again", swap("ret = our_post_credit_recv(client, blast, slot)", "ret = 0"), 10, 90),
    Solution("srq", "right", same, 100, 100),
    Solution("srq", "never armed", swap("ibv_modify_srq(pool->device->srq, &attr, IBV_SRQ_LIMIT)", "!attr.srq_limit"),
             50, 70, "ibv_modify_srq", lazy=True),
    Solution("srq", "one at a time", swap("pool->low || pool->n_free >= pool->batch", "pool->n_free"),
             50, 70, "calls of", lazy=True),
    Solution("srq", "posts nothing while low", swap("return pool->low || pool->n_free >= pool->batch",
             "return !pool->low && pool->n_free >= pool->batch"), 60, 92),
    Solution("retry", "right", same, 100, 100),
    Solution("retry", "forever", swap("while (our_now_ns() < deadline)", "while (deadline)"), 40, 85,
             "your client was still running after"),
    Solution("retry", "one address", swap("; address = address->ai_next)", "; address = NULL)"), 50, 70, "address", lazy=True),
    Solution("asleep", "right", same, 100, 100),
    Solution("asleep", "polls", swap("ppoll(fds, 2, our_time_until(our_wake_up_ns(control), &left), NULL) > 0",
             "poll(fds, 2, our_time_until(our_wake_up_ns(control), &left) ? 0 : 0) > 0"), 30, 70, lazy=True),
    Solution("asleep", "acks nothing", swap("	ibv_ack_cq_events(control->cq, channel->events_to_ack);", "	(void)control;"),
             0, 60),
    Solution("asleep", "no limit of time", swap("ppoll(fds, 2, our_time_until(our_wake_up_ns(control), &left), NULL)",
             "ppoll(fds, 2, our_time_until(our_wake_up_ns(control), &left) ? NULL : NULL, NULL)"), 60, 90),
    Solution("asleep", "prints what the tests would", before_main(PRINTS_OK), 0, 10),
    Solution("two-clients", "right", same, 100, 100),
    Solution("two-clients", "waits for the thread", swap("	pthread_detach(thread);", "	pthread_join(thread, NULL);"), 15, 15, lazy=True),
    Solution("two-clients", "no word if there is no thread", swap(
             '		our_report_error("pthread_create", ret, "a client is refused");\n		our_reject_admitted(agent, ret);\n', ""),
             40, 70, "pthread_create", lazy=True),
    Solution("immediate", "right", same, 100, 100),
    Solution("immediate", "of the host's byte order", swap("htobe32((uint32_t)number)", "(uint32_t)number"), 10, 70),
    Solution("immediate", "the receive is not posted again",
             swap("return our_expect_count(control, &watch->one_sided.exchange);", "return 0;"), 10, 70),
    Solution("immediate", "believes any number", swap("completion->immediate != (uint32_t)watch->seen", "!control"), 40, 70,
             lazy=True),
    Solution("statistics", "right", same, 100, 100),
    Solution("statistics", "each percentile the median", swap("percent * (double)", "(percent * 0 + 50) * (double)"), 30, 60, lazy=True),
    Solution("statistics", "powers of two alone", swap("return shift * OUR_HISTOGRAM_HALF + (unsigned int)(value >> shift)",
             "return shift * OUR_HISTOGRAM_HALF + OUR_HISTOGRAM_HALF"), 40, 90, "percentile"),
    Solution("bare", "right", same, 100, 100),
    Solution("bare", "ada's, without a variant", swap("/* 4.096 us", "/* about 4.096 us"), 80, 80, "in your variant", student="ada"),
    Solution("bare", "expects its own number", swap("attr.rq_psn = bare->remote.psn", "attr.rq_psn = bare->local.psn"), 0, 20),
    Solution("bare", "no time to wait for acks", swap("attr.timeout = ACK_TIMEOUT;", ""), 50, 70, "forever", lazy=True),
    Solution("private-data", "right", same, 100, 100),
    Solution("private-data", "believes all", swap("if (info->has_extension && check_extension(data, length))",
             "if (check_extension(data, length) > EPROTO)"), 40, 70, lazy=True),
    Solution("private-data", "no padding", swap("return length > 24 && !is_zero(data, 24, length);", "return length == 32;"),
             40, 70, lazy=True),
    Solution("recover", "right", same, 100, 100),
    Solution("recover", "names what it must not", lambda source: source + "\n", 0, 0, "names our_reconnect", forbids=True),
    Solution("recover", "ada's own", swap("	return name;", TAGGED), 100, 100, student="ada"),
    Solution("recover", "ada's, without a variant", lambda source: source + "\n", 10, 20, "expected in your variant", student="ada"),
    Solution("recover", "gives up at the first flap", swap("if (!how.limit_s || !our_may_pass(client, ret))", "if (true)"), 10, 20, "it gave up"),
    Solution("recover", "comes under another name", swap("	static uint64_t name;", "	uint64_t name = 0;"), 10, 20, "2 names, one after the other"),
    Solution("recover", "forgets what has no answer", swap("		run->under_way = false; /*", "		run->message++; /*"), 10, 20,
             "goes on behind a message that has no answer"),
    Solution("recover", "begins with message 0", swap("htobe64(run->message) };", "0 };"), 10, 20, "messages were done"),
    Solution("recover", "waits as long as nobody answers", swap(
             TAKES, f"		do\n	{TAKES[:-3]}\n		while (ret == ETIMEDOUT || ret == EHOSTUNREACH); /*"), 40, 70, "nobody comes back: it hangs", lazy=True),
    Solution("recover", "tries forever", swap("		.limit_s = run->options->wait_s,", "		.limit_s = 100000,"), 40, 70, "nobody comes back", lazy=True),
    Solution("recover", "tries without a pause", swap("		.connect = post_and_connect,", "		.connect = post_and_connect,\n		.most_ms = 1,"),
             40, 70, "without a pause", lazy=True),
    Solution("recover", "leaves a PD", swap(RECONNECTS, f"		if (!ibv_alloc_pd(client->verbs))\n			break;\n{RECONNECTS}"), 40, 70, "left over: 1 PD", lazy=True),
    Solution("exactly-once", "right", same, 100, 100),
    Solution("exactly-once", "names what it must not", lambda source: source + "\n", 0, 0, "names mmap", forbids=True),
    Solution("exactly-once", "ada's own", swap("OFFSET 0", f"OFFSET {variants.of('exactly-once', 'ada')['offset']}"), 100, 100, student="ada"),
    Solution("exactly-once", "ada's, without a variant", lambda source: source + "\n", 10, 20, "answers", student="ada"),
    Solution("exactly-once", "only in memory", swap("mmap(NULL, sizeof(*known), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)", "calloc(1, sizeof(*known))"),
             10, 20, "was forgotten"),
    Solution("exactly-once", "executes what comes again", swap("if (number >= known->clients[recorded->fd].done)", "if (true)"), 10, 70, "executed twice"),
    Solution("exactly-once", "answers a repetition anew", swap(f"{EXECUTED}\n	}}", f"{EXECUTED}\n	}} else {{\n		known->clients[recorded->fd].result = "
             "known->words[be64toh(words[0])];\n	}"), 10, 70, "another answer", lazy=True),
    Solution("exactly-once", "one memory for all clients", swap("	recorded->fd = i;", "	recorded->fd = 0;"), 40, 70, "was forgotten", lazy=True),
    Solution("exactly-once", "adds, and notes it later", swap(EXECUTED, f"		poll(NULL, 0, 0);\n{EXECUTED}"), 40, 70, "executed twice", lazy=True),
    Solution("exactly-once", "notes it, and adds later", swap("		known->words[be64toh(words[0])] += be64toh(words[1]);\n" + EXECUTED,
             EXECUTED + "\n		poll(NULL, 0, 0);\n		known->words[be64toh(words[0])] += be64toh(words[1]);"), 40, 70, lazy=True),
]  # fmt: skip
