# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# libour_control, which any program can link, and the examples that are made of it and nothing else; those in plain/
# are made of librdmacm and libibverbs alone.

# common/, and the ways of waiting that suit a program of any kind, from the stages that teach them.
LIBRARY = $(BUILD)/libour_control.a
LIBRARY_SOURCES = $(wildcard common/*.c) ping-sr-0/completions.c ping-sr-2/keepalive.c \
		  $(addprefix ping-sr-4/,cm_events.c comp_channels.c completions.c poll.c)
$(LIBRARY): $(call objects,$(LIBRARY_SOURCES))
	@rm -f $@
	$(call run,AR,$@,$(AR) rcs $@ $^)

OF_LIBRARY = $(patsubst %.c,$(BUILD)/%,$(wildcard examples/*.c))
EXAMPLES = $(OF_LIBRARY) $(patsubst %.c,$(BUILD)/%,$(wildcard examples/plain/*.c))
$(OF_LIBRARY): $(LIBRARY)
$(OF_LIBRARY): ALONE += -Icommon -MMD -MP
$(EXAMPLES): $(BUILD)/%: %.c
	$(COMPILE_ALONE)

examples: $(EXAMPLES) ## build the library and the programs to copy: build/libour_control.a, build/examples
