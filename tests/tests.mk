# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Builds the test programs into build/tests/. Included by the top Makefile; `make tests-build`.

TESTS = $(BUILD)/tests
TEST_PACKAGES = check json-c
# Asked only when a test is built, and once: pkg-config and the packages may not be there before.
TEST_CFLAGS = $(eval TEST_CFLAGS := $(shell pkg-config --cflags $(TEST_PACKAGES)))$(TEST_CFLAGS)
TEST_LIBS = $(eval TEST_LIBS := $(shell pkg-config --libs $(TEST_PACKAGES)) -lm)$(TEST_LIBS)

test_objects = $(patsubst tests/%.c,$(TESTS)/%.o,$(wildcard $(1)))
TEST_SUPPORT = $(filter-out %/gate.o %/gids.o,$(call test_objects,tests/support/*.c))
TEST_PROGRAMS = $(TESTS)/unit-tests

tests-build: $(TEST_PROGRAMS) $(WAYS) $(TESTS)/gate.so $(TESTS)/gids.so ## build the test programs

$(TEST_SUPPORT) $(call test_objects,tests/unit/*.c): $(TESTS)/%.o: tests/%.c
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(COMPILE) -Werror $(TEST_CFLAGS) -c $< -o $@

# What needs no device is built once more, so that undefined behaviour ends the test.
UNDEFINED = -fsanitize=undefined,bounds-strict -fno-sanitize-recover=all
checked = $(patsubst %.c,$(TESTS)/checked/%.o,$(1))
UNIT_PARTS = $(call checked,ping-sr-0/cm_events.c ping-sr-0/report_results.c ping-sr-0/user_data.c \
	       blast-sr-2/sequence.c blast-sr-2/credits.c blast-sr-2/chains.c blast-sr-2/options.c \
	       ping-sr-1/connect_info.c ping-sr-1/connect_info_wire.c ping-sr-5/wake_up.c \
	       beyond/talk-rdma-0/show.c tests/fake/run_end.c)

$(TESTS)/checked/%.o: %.c
	@mkdir -p $(@D)
	$(SAY) CC "$< (checked)"
	$(Q)$(COMPILE) $(UNDEFINED) -c $< -o $@

$(TESTS)/checked/libour.a: $(call checked,$(ROOM_SOURCES))
	$(SAY) AR $@
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(TESTS)/unit-tests: $(call test_objects,tests/unit/*.c) $(UNIT_PARTS) $(TESTS)/checked/libour.a

$(TESTS)/unit-tests: LDFLAGS += $(UNDEFINED)
$(TEST_PROGRAMS): $(TEST_SUPPORT)
	$(SAY) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(filter %.o,$^) $(filter %.a,$^) $(TEST_LIBS) $(LIBS) -o $@

$(TESTS)/gate.so $(TESTS)/gids.so: $(TESTS)/%.so: tests/support/%.c
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(COMPILE) -Werror -fPIC -shared $< -ldl -o $@

# Programs that take nothing of the suite: the independent one that tests/live runs against the stages, clients
# that do wrong, and what tests/tracer traces. docs/drivers.md asks a driver one question with probe; no test runs it.
AGAINST = peer crowd trespass greedy together
TRACED = $(addprefix $(TESTS)/tracer/,sins extended odd odd-address)
pairs-build: $(AGAINST:%=$(TESTS)/%)
tracer-build: verbs-trace $(TRACED) $(TESTS)/tracer/static
probe: $(TESTS)/probe ## build what docs/drivers.md asks the drivers with

$(foreach name,$(AGAINST) probe,$(eval $(TESTS)/$(name): $(wildcard tests/$(name)/*.[ch])))
$(TESTS)/together: $(LIBRARY)
$(TESTS)/together: ALONE = -Icommon
$(TESTS)/tracer/sins $(TESTS)/tracer/extended: $(TESTS)/tracer/%: tests/tracer/%.c tests/tracer/pair.c tests/tracer/pair.h
$(TESTS)/tracer/sins $(TESTS)/tracer/extended: ALONE = -I.
$(TESTS)/tracer/odd $(TESTS)/tracer/odd-address: tests/tracer/odd.c
$(TESTS)/tracer/odd-address: ALONE = -fsanitize=address

$(TRACED) $(patsubst %,$(TESTS)/%,$(AGAINST) probe):
	@mkdir -p $(@D)
	$(SAY) CC $@
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) -Werror $(ALONE) $(filter %.c %.a,$^) $(LIBS) -o $@

$(TESTS)/tracer/static:
	@mkdir -p $(@D)
	$(SAY) CC $@
	$(Q)echo 'int main(void) { return 0; }' | $(CC) -static -x c - -o $@

.PHONY: tests-build pairs-build tracer-build probe
