# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# libour_control, which any program can link, and the examples that are made of it and nothing else.
# The stages still stand on common/; when they have moved, this library takes that name.

LIBRARY = $(BUILD)/libour_control.a
PLAIN = $(patsubst %.c,$(BUILD)/%,$(wildcard examples/plain/*.c))
EXAMPLES = $(patsubst %.c,$(BUILD)/%,$(wildcard examples/*.c)) $(PLAIN)

$(LIBRARY): $(patsubst %.c,$(BUILD)/%.o,$(wildcard common-next/*.c) common/stop.c)
	$(SAY) AR $@
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

# Those are made of librdmacm and libibverbs alone.
$(PLAIN): $(BUILD)/%: %.c
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) $(LDFLAGS) $< -lrdmacm -libverbs -o $@

$(filter-out $(PLAIN),$(EXAMPLES)): $(BUILD)/%: %.c $(LIBRARY)
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -Icommon-next $(CFLAGS) $(WARNINGS) -MMD -MP $(LDFLAGS) $< $(LIBRARY) \
		-lrdmacm -libverbs -o $@

examples: $(EXAMPLES) ## build the library and the programs to copy: build/libour_control.a, build/examples

.PHONY: examples
