# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Exercises: `make exercise`, `make grade`; bugs: `make bug`, `make bug-check`; and the partners of the grader that are no
# programs of the suite.

# A partner is a stage's server, or client, in which functions are as partners/NAME.c has them.
PARTNERS = $(addprefix $(BUILD)/course/,corrupt overcredit misnumber adder)
$(BUILD)/course/corrupt: $(BUILD)/ping-sr-0/stage.o
$(BUILD)/course/corrupt: WRAPPED = our_post_send
$(BUILD)/course/overcredit: $(BUILD)/blast-sr-2/stage.o
$(BUILD)/course/overcredit: WRAPPED = our_return_credits our_post_recv_chain
$(BUILD)/course/misnumber: $(BUILD)/beyond/ping-rdma-3/stage.o
$(BUILD)/course/misnumber: WRAPPED = our_write_message
$(BUILD)/course/adder: $(BUILD)/beyond/ping-reconnect-2/stage.o $(BUILD)/program/serve/client_main.o
$(BUILD)/course/adder: WRAPPED = our_setup_user_data our_verify_data
$(filter-out %/adder,$(PARTNERS)): $(BUILD)/program/serve/server_main.o
$(PARTNERS): $(BUILD)/course/%: $(BUILD)/course/partners/%.o $(SUITE)
	$(LINK)

# What starts a submission's program beside a partner, as another user.
$(BUILD)/course/enter: $(BUILD)/course/partners/enter.o
	$(call run,LD,$@,$(CC) $(CFLAGS) -static -o $@ $<)

# The partners of the grader, and the stages whose objects it takes.
course-build: $(PROGRAMS) $(PARTNERS) $(BUILD)/course/enter $(BUILD)/course/partners/host.o $(BUILD)/tests/peer \
		$(BUILD)/tests/sim/programs $(TOOLS)

# $(call needs,VARIABLES) in a recipe; $(call option,VARIABLE,NAME), if it is set: --NAME "value".
needs = $(foreach one,$(1),$(if $($(one)),,$(error Say $(one)=..., as make help shows)))
option = $(if $($(1)),--$(2) "$($(1))")

exercise: ## NAME=ping-sr-2e DIR=mine: write the starting tree of an exercise (course/exercises/README.md lists them; STUDENT=ada: with a variant)
	$(call needs,NAME DIR)
	$(call ready,build)
	@python3 -B -m course.make "$(NAME)" "$(DIR)" $(call option,STUDENT,student)

# GRADESCOPE=results.json and CLASSROOM=$GITHUB_OUTPUT: the points for other programs (course/grading.md).
POINTS = $(call option,GRADESCOPE,gradescope) $(call option,CLASSROOM,classroom)
grade: ## DIR=mine: grade a solution (JSON=file: also as JSON; SEED=1: draw the same counts and sizes again; STUDENT=ada: with a variant)
	$(call needs,DIR)
	@tools/packages --install build lab tests
	@python3 -B -m course.grade --fit "$(DIR)" $(POINTS)
	$(call ready,,course-build)
	@python3 -B -m course.grade "$(DIR)" $(call option,JSON,json) $(call option,SEED,seed) $(call option,STUDENT,student) $(POINTS)

sim: ## DIR=mine ROLE=client TESTS=odd: run tests over the simulated device that make grade names, on this machine
	$(call needs,DIR ROLE TESTS)
	$(call ready,build,course-build)
	@python3 -B -m course.make_sim "$(DIR)" "$(ROLE)" "$(TESTS)"

# Built once, and not by each grading.
grade-all: ## DIR=submissions: grade all folders and zips in it, or of a zip (CSV=file: if it is there, go on with it; JOBS=2: at a time; EXERCISE=verify: what is due; VARIANTS=1; SECONDS=1200: limit for each; SEED=1: see course/grading.md)
	$(call needs,DIR)
	$(call ready,build lab tests,course-build)
	@python3 -B -m course.grade_all "$(DIR)" $(call option,CSV,csv) $(call option,SECONDS,seconds) $(call option,SEED,seed) \
		$(call option,JOBS,jobs) $(call option,EXERCISE,exercise) $(if $(VARIANTS),--variants)

similar: ## DIR=submissions: which hand-ins of a class have much in common (LEAST=60: percent; course/grading.md)
	$(call needs,DIR)
	@python3 -B -m course.similar "$(DIR)" $(call option,LEAST,least)

students: ## DIR=public: write the project without the notes, solutions and written test that a lecturer keeps
	$(call needs,DIR)
	@python3 -B -m course.students "$(DIR)"

# What SEED, TOPIC and LEVEL are for is in course/bugs/README.md.
bug: ## DIR=mine: write a program with a fault to find (SEED=1: always the same one; LEVEL=1 to 3; TOPIC=completions)
	$(call needs,DIR)
	$(call ready,build)
	@python3 -B -m course.bug make "$(DIR)" $(call option,SEED,seed) $(call option,TOPIC,topic) $(call option,LEVEL,level)

bug-hint: ## DIR=mine: print one more hint each time (HINT=2: the first two)
	$(call needs,DIR)
	@python3 -B -m course.bug hint "$(DIR)" $(call option,HINT,hint)

bug-check: ## DIR=mine: check whether the fault is repaired
	$(call needs,DIR)
	$(call ready,build,course-build)
	@python3 -B -m course.bug check "$(DIR)"

bugs: ## list all bugs with their solutions and a seed for each, for instructors
	@python3 -B -m course.bug list

# A student's own library, and ours, which shows that its tests can be passed. Not only once: FILE may be another file.
$(BUILD)/mine/check $(BUILD)/mine/store: $(BUILD)/%: course/%.c FORCE
	$(COMPILE_ALONE)
$(BUILD)/mine/%: ALONE += -I. "$(FILE)"
$(BUILD)/mine/check: ALONE += -Wl,--wrap=ibv_get_cq_event

mine-check: ## FILE=mine.c: test your own library in the lab (course/mine; SEED=1: other counts; PART=1 to 6; VARIANT=9f3a11c2)
	$(call needs,FILE)
	$(call ready,build lab,$(BUILD)/mine/check)
	@lab/run -q -- course/mine/check-links $(or $(SEED),1) $(or $(PART),0) $(VARIANT)

mine-store: ## FILE=mine.c: run the key-value store on your own library, beside our stages (COUNT=1000: of gets and puts; ROUNDS=5)
	$(call needs,FILE)
	$(call ready,build lab,$(BUILD)/mine/store $(call both,beyond/pubsub-rdma-1 beyond/ping-rdma-1))
	@lab/run -q -- course/mine/store-beside $(BUILD)/mine/store $(or $(COUNT),1000) $(or $(ROUNDS),5)

scene: ## STAGE=ping-sr-3 SCENE=silent: show what happens when, who does it, in which line (PICTURE=file.html: also drawn); without SCENE: list them
	$(call needs,STAGE)
	$(call ready,build,all $(PROBE) $(BUILD)/tests/peer)
	@python3 -B -m course.scenes "$(STAGE)" $(SCENE) $(call option,PICTURE,picture)

scenes: all $(PROBE) $(BUILD)/tests/peer ## write the pages of scenes, docs/scenes
	@python3 -B -m course.scenes --write

left-out: all ## write docs/left-out.md: what the stages do without one decisive line (NAME=poll-after-arming: measure only this one, and print it)
	@python3 -B -m course.left_out $(NAME)

# Figures are in the file itself.
SLIDES = $(patsubst course/slides/%.md,$(BUILD)/slides/%.html,$(filter-out %-notes.md,$(wildcard course/slides/[0-9]*.md)))
$(BUILD)/slides/%.html: course/slides/%.md course/slides/template.html $(wildcard docs/figures/*.svg)
	$(call run,DOC,$@,pandoc --from markdown-implicit_figures --to dzslides --slide-level 2 --wrap=none --self-contained \
		--template course/slides/template.html --resource-path=course/slides --output $@ $<)

slides: ## make the slides of the lectures: build/slides/*.html, to be shown, or printed, without a network
	$(call ready,docs,$(SLIDES))
