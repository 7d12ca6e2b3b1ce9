# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Exercises: `make exercise`, `make grade`; bugs: `make bug`, `make bug-check`; and the partners of the grader that are no programs of the suite.

# $(call partner,NAME,STAGE,FUNCTIONS): a stage's server with these functions as partners/NAME.c has them.
define partner
$(BUILD)/course/$(1): $(call objects,program/server_main.c $(call folder,$(2))/stage.c course/partners/$(1).c) $(ROOM_LIBS)
	$$(LINK)
$(BUILD)/course/$(1): LINK_FLAGS = $(3:%=-Wl,--wrap=%)
endef
$(eval $(call partner,corrupt,ping-sr-0,our_post_send))
$(eval $(call partner,overcredit,blast-sr-2,our_return_credits our_post_recv_chain))
$(eval $(call partner,misnumber,ping-rdma-3,our_write_message))

# The partners of the grader, and the stages whose objects it takes.
course-build: $(PROGRAMS) $(addprefix $(BUILD)/course/,corrupt overcredit misnumber) $(BUILD)/tests/peer verbs-trace verbs-sim

exercise: ## NAME=ping-sr-2e DIR=mine: write the starting tree of an exercise (course/exercises/README.md lists them)
	$(if $(and $(NAME),$(DIR)),,$(error Say which exercise, and where: NAME=ping-sr-2e DIR=mine))
	$(call ready,build)
	@python3 -B -m course.make "$(NAME)" "$(DIR)"

# GRADESCOPE=results.json and CLASSROOM=$GITHUB_OUTPUT: the points for other programs (course/grading.md).
grade: ## DIR=mine: grade a solution (JSON=file: also as JSON; SEED=1: draw the same counts and sizes again)
	$(if $(DIR),,$(error Say what to grade: DIR=mine))
	@tools/packages --install build lab tests
	@python3 -B -m course.grade --fit "$(DIR)" $(POINTS)
	$(call ready,,course-build)
	@python3 -B -m course.grade "$(DIR)" $(if $(JSON),--json "$(JSON)") $(if $(SEED),--seed "$(SEED)") $(POINTS)
POINTS = $(if $(GRADESCOPE),--gradescope "$(GRADESCOPE)") $(if $(CLASSROOM),--classroom "$(CLASSROOM)")

sim: ## DIR=mine ROLE=client TESTS=odd: run tests over the simulated device that make grade names, on this machine
	$(if $(and $(DIR),$(ROLE),$(TESTS)),,$(error Say what to test: DIR=mine ROLE=client TESTS=odd))
	$(call ready,build,course-build)
	@python3 -B -m course.sim "$(DIR)" "$(ROLE)" "$(TESTS)"

# Built once, and not by each grading.
grade-all: ## DIR=submissions: grade all folders in it (CSV=file; SECONDS=1200: limit for each; SEED=1: see course/grading.md)
	$(if $(DIR),,$(error Say what to grade: DIR=submissions))
	$(call ready,build lab tests,course-build)
	@python3 -B -m course.grade_all "$(DIR)" $(if $(CSV),--csv "$(CSV)") $(if $(SECONDS),--seconds "$(SECONDS)") $(if $(SEED),--seed "$(SEED)")

students: ## DIR=public: write the project without the notes, solutions and written test that a lecturer keeps
	$(if $(DIR),,$(error Say where: DIR=public))
	@python3 -B -m course.students "$(DIR)"

# What SEED, TOPIC and LEVEL are for is in course/bugs/README.md.
bug: ## DIR=mine: write a program with a fault to find (SEED=1: always the same one; LEVEL=1 to 3; TOPIC=completions)
	$(if $(DIR),,$(error Say where: DIR=mine))
	$(call ready,build)
	@python3 -B -m course.bug make "$(DIR)" $(if $(SEED),--seed "$(SEED)") $(if $(TOPIC),--topic "$(TOPIC)") $(if $(LEVEL),--level "$(LEVEL)")

bug-hint: ## DIR=mine: print one more hint each time (HINT=2: the first two)
	$(if $(DIR),,$(error Say of what: DIR=mine))
	@python3 -B -m course.bug hint "$(DIR)" $(if $(HINT),--hint "$(HINT)")

bug-check: ## DIR=mine: check whether the fault is repaired
	$(if $(DIR),,$(error Say of what: DIR=mine))
	$(call ready,build,course-build)
	@python3 -B -m course.bug check "$(DIR)"

bugs: ## list all bugs with their solutions and a seed for each, for instructors
	@python3 -B -m course.bug list

# A student's own library, and ours, which shows that its tests can be passed. Not only once: FILE may be another file.
mine = @mkdir -p $(BUILD)/mine; $(CC) -std=c11 $(CPPFLAGS) $(CFLAGS) $(WARNINGS) $(LDFLAGS) $(1) -pthread -lrdmacm -libverbs -o $(BUILD)/mine
WHICH_FILE = $(if $(FILE),,$(error Say which file: FILE=mine.c))

mine-check: ## FILE=mine.c: test your own library in the lab (course/mine; SEED=1: other counts; PART=1 to 6; VARIANT=9f3a11c2)
	$(WHICH_FILE)
	$(call ready,build lab)
	$(call mine,course/mine/check.c "$(FILE)" $(EVENTS_COUNTED))/check
	@lab/run -q -- sh -c 'status=0; for address in $$LAB_ROCE_ADDR $$LAB_IWARP_ADDR; do echo "# $$address"; \
		$(BUILD)/mine/check $$address $(or $(SEED),1) $(or $(PART),0) $(VARIANT) || status=1; done; exit $$status'
EVENTS_COUNTED = -Wl,--wrap=ibv_get_cq_event

mine-store: ## FILE=mine.c: run the key-value store on your own library, beside our stages (COUNT=1000: of gets and puts; ROUNDS=5)
	$(WHICH_FILE)
	$(call ready,build lab)
	@$(MAKE) --no-print-directory $(foreach stage,pubsub-rdma-1 ping-rdma-1,beyond/$(stage)/server beyond/$(stage)/client)
	$(call mine,course/mine/store.c "$(FILE)")/store
	@lab/run -q -- bench/store-beside $(BUILD)/mine/store $(or $(COUNT),1000) $(or $(ROUNDS),5)

SLIDES = $(patsubst course/slides/%.md,$(BUILD)/slides/%.html,$(filter-out %-notes.md,$(wildcard course/slides/[0-9]*.md)))
# Of an old pandoc and of a new one: figures in the file itself.
WHOLE = $(if $(shell pandoc --help 2>&1 | grep embed-resources),--embed-resources --standalone,--self-contained)

$(BUILD)/slides/%.html: course/slides/%.md course/slides/template.html $(wildcard docs/figures/*.svg)
	$(call run,DOC,$@,pandoc --from markdown-implicit_figures --to dzslides --slide-level 2 --wrap=none --template course/slides/template.html $(WHOLE) \
		--resource-path=course/slides --output $@ $<)

slides: ## make the slides of the lectures: build/slides/*.html, to be shown, or printed, without a network
	$(call ready,docs,$(SLIDES))
