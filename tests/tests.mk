# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Builds the test programs into build/tests/.

TESTS_BUILD = $(BUILD)/tests
TEST_PACKAGES = check
# Asked only when a test is built, and once: pkg-config and the packages may not be there before.
TEST_CFLAGS = $(eval TEST_CFLAGS := $(shell pkg-config --cflags $(TEST_PACKAGES)))$(TEST_CFLAGS)
TEST_LIBS = $(eval TEST_LIBS := $(shell pkg-config --libs $(TEST_PACKAGES)) -lm)$(TEST_LIBS)

TESTED = tests-build tracer-build sim-build pairs-build
LOADED = $(addprefix $(TESTS_BUILD)/,gate.so gids.so allocations.so)
tests-build: $(TESTS_BUILD)/unit-tests ways $(LOADED) $(BENCH) ## build the test programs
$(LOADED): $(TESTS_BUILD)/%.so: tests/support/%.c
	$(COMPILE_ALONE)
$(LOADED): ALONE += -Werror -fPIC -shared
$(LOADED): LIBS = -ldl

# Tests without a device are built once more, so that undefined behaviour ends the test.
UNDEFINED = -fsanitize=undefined,bounds-strict -fno-sanitize-recover=all
checked = $(patsubst %.c,$(TESTS_BUILD)/checked/%.o,$(1))
UNIT_PARTS = $(addprefix ping-sr-0/,cm_events.c completions.c) $(addprefix ping-sr-1/,connect_info.c connect_info_wire.c) \
	     $(addprefix blast-sr-2/,sequence.c credits.c chains.c options.c) \
	     ping-sr-5/wake_up.c bench/meter.c tools/devices/words.c beyond/ping-srq-4/refill.c $(addprefix beyond/talk-rdma-0/,lines.c slot.c)
TEST_OBJECTS = $(call objects,$(wildcard tests/unit/*.c))
$(TEST_OBJECTS): FLAGS = -Werror $(TEST_CFLAGS)
$(TESTS_BUILD)/checked/%.o: %.c
	$(COMPILE)
$(TESTS_BUILD)/checked/%.o: FLAGS = $(UNDEFINED)
# The last one is the library's: in a tree that has its two files, these come first (tests/house/test_packed.py).
$(TESTS_BUILD)/checked/libour.a: $(call checked,$(ROOM_SOURCES) ping-sr-2/keepalive.c)
	$(ARCHIVE)
$(TESTS_BUILD)/unit-tests: LINK_FLAGS = $(UNDEFINED)
$(TESTS_BUILD)/unit-tests: LIBS = $(TEST_LIBS) -lrdmacm -libverbs -pthread
$(TESTS_BUILD)/unit-tests: $(TEST_OBJECTS) $(call checked,$(UNIT_PARTS)) $(TESTS_BUILD)/checked/libour.a
	$(LINK)

# Programs that take nothing of the suite, or only the library: the independent one that tests/live runs against the stages,
# also as clients that do wrong, and those that ask the library.
AGAINST = $(addprefix $(TESTS_BUILD)/,peer parts patient sim/library sim/group)
tracer-build: verbs-trace $(TRIED_verbs-trace)
# All that tests/sim runs.
sim-build: transcribed ways nine $(LOADED) $(TRIED_verbs-sim) sanitized
transcribed: all tracer-build pairs-build verbs-sim $(addprefix $(SIM_TESTS)/,programs refused) $(PROBE)
approve: transcribed ## write into tests/sim/transcripts what the programs print now; read it as a user would
	@/usr/bin/python3 tests/sim/test_transcripts.py
$(foreach one,$(AGAINST),$(eval $(one): $(wildcard $(one:$(BUILD)/%=%)/*.[ch])))
$(TESTS_BUILD)/sim/group: $(TESTS_BUILD)/%: tests/%.c
$(TESTS_BUILD)/parts $(TESTS_BUILD)/patient $(TESTS_BUILD)/sim/library $(TESTS_BUILD)/sim/group: $(LIBRARY)
$(AGAINST): ALONE += -Icommon
$(AGAINST): WARNINGS += -Werror
$(AGAINST):
	$(COMPILE_ALONE)

# The echo pair on the two files, instead of the library that the stages are made of.
COPIES = $(addprefix $(BUILD)/examples/two-files/,echo_client echo_server)
pairs-build: $(AGAINST) $(COPIES)
$(COPIES): $(BUILD)/examples/two-files/%: examples/%.c $(TWO_FILES)/libour_control.a
	$(COMPILE_ALONE)
$(COPIES): ALONE += -I$(TWO_FILES)

# The programs once more, in a copy of the tree, which has them where tests expect them.
SANITIZED = $(TESTS_BUILD)/sanitized
SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=undefined
# A ping-pong does not use up the usual budget.
SMALL = -DOUR_AGENT_BUDGET=1
sanitized: ## build the programs with AddressSanitizer and UndefinedBehaviorSanitizer: build/tests/sanitized
	@tools/files --copy $(SANITIZED)
	+@[ ! -f $(SANITIZED)/Makefile ] || $(MAKE) --no-print-directory -C $(SANITIZED) CFLAGS="-O1 -g -fno-omit-frame-pointer $(SANITIZE) $(SMALL)" LDFLAGS="$(SANITIZE)" \
		$(PROGRAMS) $(ONE_FILE) $(EXAMPLES)
