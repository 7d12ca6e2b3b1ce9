# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Builds what tests/pairs and other suites run against the stages: the independent program, and clients
# that do wrong.
pairs-build: $(addprefix $(BUILD)/tests/,peer crowd trespass greedy together)

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

$(BUILD)/tests/together: tests/together/together.c $(LIBRARY)
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -Icommon-next $(CFLAGS) $(WARNINGS) -Werror $< $(LIBRARY) \
		-lrdmacm -libverbs -pthread -o $@

.PHONY: pairs-build

# Asks a driver one question: docs/drivers.md. No test runs it.
probe: $(BUILD)/tests/probe ## build what docs/drivers.md asks the drivers with

$(BUILD)/tests/probe: $(wildcard tests/probe/*.[ch])
	@mkdir -p $(@D)
	$(SAY) CC tests/probe/probe.c
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) -Werror tests/probe/probe.c \
		-lrdmacm -libverbs -o $@

.PHONY: probe
