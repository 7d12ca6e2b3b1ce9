# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# libour_control, which any program can link, and the examples that are made of it and nothing else.

LIBRARY = $(BUILD)/libour_control.a

# common/, and the ways of waiting that suit a program of any kind, from the stages that teach them.
LIBRARY_SOURCES = $(wildcard common/*.c) ping-sr-0/completions.c ping-sr-2/keepalive.c \
		  $(addprefix ping-sr-4/,cm_events.c comp_channels.c completions.c poll.c)
PLAIN = $(patsubst %.c,$(BUILD)/%,$(wildcard examples/plain/*.c))
EXAMPLES = $(patsubst %.c,$(BUILD)/%,$(wildcard examples/*.c)) $(PLAIN)

$(LIBRARY): $(LIBRARY_SOURCES:%.c=$(BUILD)/%.o)
	$(SAY) AR $@
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

# Those are made of librdmacm and libibverbs alone.
$(PLAIN): $(BUILD)/%: %.c
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) $(LDFLAGS) $< $(LIBS) -o $@

$(filter-out $(PLAIN),$(EXAMPLES)): $(BUILD)/%: %.c $(LIBRARY)
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -Icommon $(CFLAGS) $(WARNINGS) -MMD -MP $(LDFLAGS) $< $(LIBRARY) \
		$(LIBS) -o $@

examples: $(EXAMPLES) ## build the library and the programs to copy: build/libour_control.a, build/examples

.PHONY: examples
