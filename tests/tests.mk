# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Builds the test programs into build/tests/. Included by the top Makefile; `make tests-build`.

TESTS = $(BUILD)/tests
TEST_PACKAGES = check json-c
# Asked only when a test is built, and once: pkg-config and the packages may not be there before.
TEST_CFLAGS = $(eval TEST_CFLAGS := $(shell pkg-config --cflags $(TEST_PACKAGES)))$(TEST_CFLAGS)
TEST_LIBS = $(eval TEST_LIBS := $(shell pkg-config --libs $(TEST_PACKAGES)) -lm)$(TEST_LIBS)

LOADED = $(addprefix $(TESTS)/,gate.so gids.so allocations.so)
TEST_OBJECTS = $(call objects,$(filter-out $(LOADED:$(TESTS)/%.so=tests/support/%.c),$(wildcard tests/support/*.c tests/unit/*.c)))

tests-build: $(TESTS)/unit-tests ways $(LOADED) $(BENCH) $(PRIMITIVES) ## build the test programs

$(TEST_OBJECTS): $(BUILD)/%.o: %.c
	$(call run,CC,$<,$(COMPILE) -Werror $(TEST_CFLAGS) -c $< -o $@)

# What needs no device is built once more, so that undefined behaviour ends the test.
UNDEFINED = -fsanitize=undefined,bounds-strict -fno-sanitize-recover=all
checked = $(patsubst %.c,$(TESTS)/checked/%.o,$(1))
UNIT_PARTS = ping-sr-0/cm_events.c ping-sr-2/keepalive.c $(addprefix ping-sr-1/,connect_info.c connect_info_wire.c) \
	     $(addprefix blast-sr-2/,sequence.c credits.c chains.c options.c) \
	     ping-sr-5/wake_up.c bench/meter.c beyond/ping-srq-4/refill.c beyond/talk-rdma-0/show.c

$(TESTS)/checked/%.o: %.c
	$(call run,CC,"$< (checked)",$(COMPILE) $(UNDEFINED) -c $< -o $@)

$(TESTS)/checked/libour.a: $(call checked,$(ROOM_SOURCES))
	$(ARCHIVE)

$(TESTS)/unit-tests: LINK_FLAGS = $(UNDEFINED)
$(TESTS)/unit-tests: LIBS = $(TEST_LIBS) -lrdmacm -libverbs -pthread
$(TESTS)/unit-tests: $(TEST_OBJECTS) $(call checked,$(UNIT_PARTS)) $(TESTS)/checked/libour.a
	$(LINK)

$(LOADED): $(TESTS)/%.so: tests/support/%.c
	$(call run,CC,$<,$(COMPILE) -Werror -fPIC -shared $< -ldl -o $@)

# Programs that take nothing of the suite: the independent one that tests/live runs against the stages, also as
# clients that do wrong, and what tests/tracer traces. docs/drivers.md asks a driver one question with probe,
# and drivers/test_simulation.py the simulated device, too.
AGAINST = $(addprefix $(TESTS)/,peer together parts)
TRACED = $(addprefix $(TESTS)/tracer/,sins extended odd odd-address)
pairs-build: $(AGAINST) $(COPIES)
tracer-build: verbs-trace $(TRACED)
ODD = $(addprefix $(TESTS)/sim/,odd odd-thread odd-address)
ENDS = $(TESTS)/sim/ends
sim-build: verbs-sim $(ODD) $(ENDS) $(TESTS)/probe sanitized
probe: $(TESTS)/probe ## build what docs/drivers.md asks the drivers with

# The programs once more, in a copy of the tree, which has them where tests expect them.
SANITIZED = $(TESTS)/sanitized
SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=undefined
sanitized: ## build the programs with AddressSanitizer and UndefinedBehaviorSanitizer: build/tests/sanitized
	@mkdir -p $(SANITIZED)
	@$(call no_sources,$(SANITIZED))
	@tools/files --new | tar cf - -T - | tar xf - -C $(SANITIZED)
	+@$(MAKE) --no-print-directory -C $(SANITIZED) CFLAGS="-O1 -g -fno-omit-frame-pointer $(SANITIZE)" LDFLAGS="$(SANITIZE)" \
		$(PROGRAMS) $(ONE_FILE) $(EXAMPLES)

$(ODD): tests/sim/odd.c
$(TESTS)/sim/odd-thread: ALONE += -fsanitize=thread
$(TESTS)/sim/odd-address: ALONE += -fsanitize=address
$(foreach one,$(AGAINST) $(TESTS)/probe,$(eval $(one): $(wildcard $(one:$(BUILD)/%=%)/*.[ch])))
$(TESTS)/together $(TESTS)/parts: $(LIBRARY)
$(TESTS)/together $(TESTS)/parts: ALONE += -Icommon
$(TESTS)/tracer/sins $(TESTS)/tracer/extended: $(TESTS)/tracer/%: tests/tracer/%.c tests/support/two_ends.h
$(TESTS)/tracer/sins $(TESTS)/tracer/extended $(TESTS)/probe $(ENDS): ALONE += -I.
$(ENDS): tests/sim/ends.c
$(TESTS)/probe $(ENDS): tests/support/two_ends.h
$(TESTS)/tracer/odd $(TESTS)/tracer/odd-address: tests/tracer/odd.c
$(TESTS)/tracer/odd-address: ALONE += -fsanitize=address
$(AGAINST) $(TRACED) $(ODD) $(ENDS) $(TESTS)/probe: WARNINGS += -Werror
$(AGAINST) $(TRACED) $(ODD) $(ENDS) $(TESTS)/probe:
	$(COMPILE_ALONE)
