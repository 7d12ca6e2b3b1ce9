# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Exercises: `make exercise`, `make grade`; and the partners of the grader that are no programs of the suite.

$(BUILD)/course/%.o: course/partners/%.c
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(COMPILE) -c $< -o $@

$(BUILD)/course/corrupt: $(patsubst %.c,$(BUILD)/ping-sr-0/%.o,$(ping-sr-0.server) $(ping-sr-0.parts)) \
		$(BUILD)/course/corrupt.o $(ROOM_LIBS) $(VERBS_TRACE_LIB)
	$(SAY) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(VERBS_TRACE_WRAP) -Wl,--wrap=our_post_send $^ $(LIBS) -o $@

course-build: ping-sr-0/server ping-sr-1/client ping-sr-1/server blast-sr-2/server $(BUILD)/course/corrupt verbs-trace

exercise: ## NAME=ping-sr-2e DIR=mine: the starting tree of an exercise (course/README.md lists them)
	$(if $(and $(NAME),$(DIR)),,$(error Say which exercise, and where: NAME=ping-sr-2e DIR=mine))
	@python3 -B -m course.make "$(NAME)" "$(DIR)"

grade: ## DIR=mine: grade a solution (JSON=file: also as JSON)
	$(if $(DIR),,$(error Say what to grade: DIR=mine))
	@tools/packages --install tools/packages-build.txt lab/packages.txt
	@$(MAKE) --no-print-directory $(JOBS) course-build
	@python3 -B -m course.grade "$(DIR)" $(if $(JSON),--json "$(JSON)")

.PHONY: course-build exercise grade
