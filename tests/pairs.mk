# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Builds what tests/pairs pairs with the stages: the independent program, and every stage flattened,
# each file compiled alone, with nothing of this project's on the include path, and read by a C++ compiler,
# too, as people may paste it into a program in that language.

# Of some stages in make check, of each with TESTS_ALL=1; tests/pairs chooses alike.
FLAT_STAGES = $(if $(TESTS_ALL),$(STAGES) $(OTHERS),ping-sr-0 ping-sr-4 blast-sr-2 ping-rc-0)
FLAT_PROGRAMS = $(foreach stage,$(FLAT_STAGES),$(BUILD)/tests/flat/$(stage)/client \
					  $(BUILD)/tests/flat/$(stage)/server)

pairs-build: $(BUILD)/tests/peer $(BUILD)/tests/crowd $(BUILD)/tests/trespass $(BUILD)/tests/greedy $(FLAT_PROGRAMS)

$(BUILD)/tests/crowd: tests/crowd/crowd.c
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) -Werror $< -lrdmacm -libverbs -o $@

$(BUILD)/tests/trespass: tests/trespass/trespass.c
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) -Werror $< -lrdmacm -libverbs -o $@

$(BUILD)/tests/greedy: tests/greedy/greedy.c
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) -Werror $< -lrdmacm -libverbs -o $@

$(BUILD)/tests/peer: $(wildcard tests/peer/*.[ch])
	@mkdir -p $(@D)
	$(SAY) CC tests/peer/peer.c
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) -Werror tests/peer/peer.c \
		-lrdmacm -libverbs -pthread -o $@

define flat_rules
$(BUILD)/tests/flat/$(1)/client.c $(BUILD)/tests/flat/$(1)/server.c &: \
		$(wildcard $(ROOMS:=/*.[ch]) $(STAGES:=/*.[ch]) $(OTHERS:=/*.[ch])) Makefile $(wildcard tools/flatten/* tools/flatten/small/*/*)
	$$(SAY) FLAT $(1)
	$$(Q)python3 -B -m tools.flatten $(1) $(BUILD)/tests/flat/$(1) >/dev/null
endef
$(foreach stage,$(STAGES) $(OTHERS),$(eval $(call flat_rules,$(stage))))

$(FLAT_PROGRAMS): %: %.c
	$(SAY) CC $<
	$(Q)cd $(@D) && $(CC) -std=c11 $(CFLAGS) -O1 -fsanitize=address,undefined -fno-sanitize-recover=all \
		-Wall -Wextra -Werror $(@F).c $(or $($(notdir $(@D)).libs),$(LIBS)) \
		-o $(@F)
	$(Q)$(CXX) -x c++ -std=c++23 -Wall -Wno-deprecated-enum-enum-conversion -Werror -fsyntax-only $<

.PHONY: pairs-build

# Asks a driver one question: docs/drivers.md. No test runs it.
probe: $(BUILD)/tests/probe ## build what docs/drivers.md asks the drivers with

$(BUILD)/tests/probe: $(wildcard tests/probe/*.[ch])
	@mkdir -p $(@D)
	$(SAY) CC tests/probe/probe.c
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) -Werror tests/probe/probe.c \
		-lrdmacm -libverbs -o $@

.PHONY: probe
