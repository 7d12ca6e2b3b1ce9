# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# libour_control, which any program can link, and the examples that are made of it and nothing else; those in plain/
# are made of librdmacm and libibverbs alone.

# common/, and the ways of waiting that suit a program of any kind, from the stages that teach them.
LIBRARY = $(BUILD)/libour_control.a
LIBRARY_SOURCES = $(wildcard common/*.c) ping-sr-0/completions.c ping-sr-2/keepalive.c \
		  $(addprefix ping-sr-4/,cm_events.c comp_channels.c completions.c poll.c)
$(LIBRARY): $(call objects,$(LIBRARY_SOURCES))
	$(ARCHIVE)

OF_LIBRARY = $(patsubst %.c,$(BUILD)/%,$(wildcard examples/*.c))
EXAMPLES = $(OF_LIBRARY) $(patsubst %.c,$(BUILD)/%,$(wildcard examples/plain/*.c))
$(OF_LIBRARY): $(LIBRARY)
$(OF_LIBRARY): ALONE += -Icommon -MMD -MP
$(EXAMPLES): $(BUILD)/%: %.c
	$(COMPILE_ALONE)

# The same echo on other libraries, for docs/libraries.md: of those that pkg-config finds when this is built.
ECHOES = $(patsubst %,$(BUILD)/examples/others/%,$(shell for one in $(basename $(notdir $(wildcard examples/others/*.c))); do \
	pkg-config --exists $$one && echo $$one; done))
$(BUILD)/examples/others/%: examples/others/%.c examples/others/echo.c examples/others/echo.h
	$(COMPILE_ALONE)
$(BUILD)/examples/others/%: LIBS = $(shell pkg-config --cflags --libs $*) -libverbs

others: ## build the echo on librpma, libfabric, UCX and rsockets, where they are installed: build/examples/others
	+@$(MAKE) --no-print-directory $(ECHOES)

.PHONY: others

examples: $(EXAMPLES) ## build the library and the programs to copy: build/libour_control.a, build/examples
