# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# How everything here is compiled, linked and installed. Place: included by the top Makefile, and by tools/alone.mk. Contract:
# make runs at the top of the tree, to which all paths are relative.

.SECONDEXPANSION:

CC ?= cc
# Each function that is under way is on the stack: for debuggers, and verbs-trace -i.
CFLAGS ?= -O2 -g -fno-optimize-sibling-calls
LDFLAGS ?=
override CPPFLAGS += -I. -Itools -D_GNU_SOURCE
# In CI (CI=true) a warning ends the build; a newer compiler of yours may warn of more.
WARNINGS = -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes $(if $(CI),-Werror)
LIBS = -lrdmacm -libverbs -pthread
BUILD = build
objects = $(patsubst %.c,$(BUILD)/%.o,$(1))

# $(call run,WORD,FILE,COMMAND) is a recipe. `make V=1` shows the whole command, else a word and the file.
define run
@mkdir -p $(@D)
@$(if $(V),:,printf '  %-3s %s\n') $(1) $(2)
$(if $(V),,@)$(3)
endef
# An object, with FLAGS of its own; archives, also thin ones (THIN = T); programs of objects and archives, where the files
# of WRAPPED's functions have their own; and those that are compiled by themselves, with the flags ALONE.
COMPILE = $(call run,CC,$<,$(CC) -std=c11 $(CPPFLAGS) $(CFLAGS) $(WARNINGS) $(FLAGS) -ffunction-sections -MMD -MP -c $< -o $@)
ARCHIVE = $(call run,AR,$@,rm -f $@ && $(AR) rcs$(THIN) $@ $(filter %.o,$^))
# A program has the functions that it calls, and no others of their files.
LINK_FLAGS = -Wl,--gc-sections $(WRAPPED:%=-Wl,--wrap=%)
LINK = $(call run,LD,$@,$(CC) $(CFLAGS) $(LDFLAGS) $(LINK_FLAGS) $(filter %.o,$^) $(filter %.a,$^) $(LIBS) -o $@)
ALONE = -std=c11 -D_GNU_SOURCE
%-thread: ALONE += -fsanitize=thread
%-address: ALONE += -fsanitize=address
COMPILE_ALONE = $(call run,CC,$@,$(CC) $(CFLAGS) $(WARNINGS) $(ALONE) $(LDFLAGS) $(filter %.c,$^) $(filter %.a,$^) $(LIBS) -o $@)

# Also files that were generated, which repeat prototypes of the library.
$(BUILD)/%.o: %.c | $(BUILD)/headers-found
	$(COMPILE)
$(BUILD)/%.o: $(BUILD)/%.c | $(BUILD)/headers-found
	$(COMPILE)

# Tried once, before anything is compiled: whether the compiler finds the headers, of the packages or elsewhere.
$(BUILD)/headers-found:
	@mkdir -p $(@D)
	@printf '#include <%s>\n' rdma/rdma_cma.h infiniband/verbs.h | $(CC) $(CPPFLAGS) -fsyntax-only -x c - || \
		{ [ ! -x tools/packages ] || tools/packages build; exit 1; }
	@touch $@

# $(call put,MODE:FOLDER:FILE ...) in a recipe installs files below PREFIX.
PREFIX ?= /usr/local
define put
@$(foreach one,$(1),install -D -m $(word 1,$(subst :, ,$(one))) -t "$(DESTDIR)$(PREFIX)/$(word 2,$(subst :, ,$(one)))" $(word 3,$(subst :, ,$(one))) &&) :
endef

# Targets that depend on it are always made anew.
FORCE:
.PHONY: FORCE

# For scripts: the words of a variable.
print-%: ; @echo $($*)

# The headers that each object needs, which a goal that only prints does not use. A copy of the tree in build/ has its
# own.
-include $(if $(filter print-%,$(MAKECMDGOALS)),,$(shell find $(BUILD) \( -path '$(BUILD)/*/build' -o -path $(BUILD)/foreign \) -prune -o -name '*.d' -print 2>/dev/null))
