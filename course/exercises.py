# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The table of the exercises: the stage, the file that the student writes, and what is cut out of it.

Place: read by make.py and grade.py. Contract: a solution is the stage's own source, which is compiled and tested with
the stage; or an edit of it, which course/tests/graded tests. This table has only names of functions, and named replacements.
"""

from dataclasses import dataclass, field
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Exercise:
    """One exercise."""

    name: str
    stage: str  # the stage whose programs are those of the exercise
    file: str  # the file that the student writes
    removed: tuple[str, ...]  # functions that are removed: helpers of the solution
    emptied: tuple[str, ...]  # functions whose body the student writes
    words: dict[str, str] = field(default_factory=dict)  # results of the emptied functions that do not return ENOSYS
    replaced: tuple[tuple[str, str, str], ...] = ()  # function, old text, new text: see edit.py
    forbidden: tuple[str, ...] = ()  # functions that the student's file must not name, for the exercise is to do without them

    @property
    def task(self) -> Path:
        """The file with the task."""
        return TOP / "course/exercises" / f"{self.name}.md"


EXERCISES = {
    exercise.name: exercise
    for exercise in (
        Exercise(
            "ping-sr-2e",
            "ping-sr-2e",
            "ping-sr-2e/cm_events.c",
            ("await_channel", "take_event", "await_next_event"),
            (
                "create",
                "destroy",
                "await",
                "migrate",
                "await_end",
                "ended",
            ),
        ),
        Exercise(
            "header",
            "ping-sr-0",
            "ping-sr-0/agent.c",
            (),
            (),
            replaced=(
                (
                    "our_ping_agent",
                    "/* ibv_reg_mr */",
                    "/* EXERCISE: here, and above and below: headers in memory of their own. */",
                ),
            ),
        ),
        Exercise("signaling", "blast-sr-2", "blast-sr-2/chains.c", (), ("signal_some",)),
        Exercise(
            "verify",
            "ping-sr-0",
            "program/measure/user_data.c",
            ("compare",),
            ("our_find_difference", "our_verify_data"),
            {"our_find_difference": "our_run_of(control)->data_size", "our_verify_data": "0"},
        ),
        Exercise(
            "inline",
            "ping-sr-1",
            "common/qp.c",
            (),
            (),
            replaced=(
                (
                    "our_setup_qp_params",
                    "attr->cap.max_inline_data = control->inline_wanted;",
                    "/* EXERCISE: ask for inline data. */",
                ),
                ("our_create_qp", "uint32_t inline_asked = control->inline_wanted;", ""),
                (
                    "our_create_qp",
                    """if (ret == EINVAL && strcmp(call, "ibv_modify_qp")) {
                    /* Some devices refuse inline data instead of granting less of it. */
                    our_setup_qp_params(control, &attr); inline_asked = attr.cap.max_inline_data = 0;
                    ret = cm->make_qp(control, &attr, &call); }""",
                    "/* EXERCISE: a device may refuse a QP with inline data: EINVAL of rdma_create_qp. */",
                ),
                (
                    "our_create_qp",
                    """/* A device may grant more than was asked for; the user decides what is sent inline. */
                    control->max_inline = attr.cap.max_inline_data < inline_asked ? attr.cap.max_inline_data
                    : inline_asked;""",
                    "control->max_inline = 0; /* EXERCISE: how many bytes may go inline? */",
                ),
                (
                    "our_set_inline",
                    "if (length <= control->max_inline) wr->send_flags |= IBV_SEND_INLINE;",
                    "(void)control;\n(void)length; /* EXERCISE: should this message go inline? */",
                ),
            ),
        ),
        Exercise(
            "credits",
            "blast-sr-2",
            "blast-sr-2/credits.c",
            ("check_credits", "send_credits"),
            ("our_take_credits", "our_return_credits"),
        ),
        Exercise(
            "srq",
            "ping-srq-4",
            "beyond/ping-srq-4/refill.c",
            ("arm", "note_posted"),
            ("our_refill_pool", "our_note_low", "our_give_buffer_back", "our_take_buffer"),
        ),
        Exercise(
            "retry",
            "ping-sr-1",
            "program/serve/client.c",
            (),
            ("run_with_any", "our_run_client"),
            {
                "run_with_any": "our_stage_of(client)->client(client, our_options_of(client)->addresses->ai_addr)",
                "our_run_client": "run_with_any(client, false)",
            },
        ),
        Exercise(
            "asleep",
            "ping-sr-3",
            "ping-sr-3/completions.c",
            ("take_cq_event",),
            (
                "our_create_comp_channel",
                "our_destroy_comp_channel",
                "our_ack_events",
                "our_arm_cq",
                "our_wait_for_notification",
            ),
        ),
        Exercise(
            "two-clients",
            "ping-sr-2",
            "ping-sr-2/server.c",
            ("agent_thread",),
            (),
            replaced=(
                (
                    "start_agent",
                    """pthread_t thread; int ret = pthread_create(&thread, NULL, agent_thread, agent);
                    if (ret) { our_report_error("pthread_create", ret, "a client is refused");
                    our_reject_admitted(agent, ret); return; } pthread_detach(thread);""",
                    "our_serve_client(agent); /* EXERCISE: nobody else is served meanwhile. */",
                ),
            ),
        ),
        Exercise(
            "immediate",
            "ping-rdma-3",
            "beyond/ping-rdma-3/watch.c",
            ("explain_silence",),
            ("take_immediate", "await_immediate"),
            replaced=(
                (
                    "our_write_message",
                    """if (immediate) { wr->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
                    wr->imm_data = htobe32((uint32_t)number); }""",
                    "(void)number;\n(void)wr; /* EXERCISE: with --immediate, say which message this is. */",
                ),
            ),
        ),
        Exercise(
            "statistics",
            "ping-sr-1",
            "program/measure/histogram.c",
            ("bucket_of", "middle_of"),
            ("our_histogram_add", "our_histogram_mean", "our_histogram_percentile"),
            {"our_histogram_mean": "0", "our_histogram_percentile": "0"},
        ),
        Exercise(
            "bare",
            "ping-rc-0",
            "beyond/ping-rc-0/queue_pair.c",
            ("make_mistake", "setup_address"),
            ("to_init", "to_rtr", "to_rts"),
        ),
        Exercise(
            "private-data",
            "ping-sr-1",
            "ping-sr-1/connect_info_wire.c",
            ("is_zero", "has_extension", "check_extension"),
            ("our_encode_connect_info", "our_decode_connect_info"),
        ),
        Exercise(
            "recover",
            "ping-reconnect-2",
            "beyond/ping-reconnect-2/client.c",
            ("own_name", "is_refused_for_now"),
            ("post_and_connect", "exchange_until_end"),
            {"exchange_until_end": "post_and_connect(client) ?: exchange_messages(client)"},
            replaced=(("exchange_messages", "if (ret) run->under_way = false;", ""),),
            forbidden=("our_reconnect", "our_may_pass", "our_pause_ms", "our_register_buffers", "our_deregister_buffers"),
        ),
        Exercise(
            "exactly-once",
            "ping-reconnect-2",
            "beyond/ping-reconnect-2/agent.c",
            ("count_lines", "check_place"),
            ("open_journal", "close_journal", "do_once"),
            {"open_journal": "read_place(&agent->cm_event).name ? 0 : EPROTO"},
            forbidden=("mmap", "mmap64", "shmat"),
        ),
    )
}
