# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# The library for other people's programs: as two files to copy, and installed with the programs of the suite.

VERSION = 0.1
SONAME = libour_control.so.0
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
TWO_FILES = $(BUILD)/amalgamation
SHARED = $(TWO_FILES)/$(SONAME).$(VERSION)

# Only when it is another one than before, so that a commit makes these files again. Several makes may run at a time.
$(BUILD)/commit: FORCE
	@mkdir -p $(@D)
	@install/commit > $@.$$$$ && { cmp -s $@.$$$$ $@ && rm $@.$$$$ || mv $@.$$$$ $@; }
FORCE:
VERSIONED = $(addprefix $(BUILD)/,program/options.o verbs-trace/tool/launcher.o)
$(VERSIONED): $(BUILD)/commit
$(VERSIONED): override CPPFLAGS += -DOUR_VERSION='"$(VERSION), commit $(shell install/commit)"'

amalgamation: $(TWO_FILES)/our_control.c ## write the library as two files: build/amalgamation/our_control.c and .h

$(TWO_FILES)/our_control.c: $(LIBRARY_SOURCES) $(wildcard common/*.h ping-sr-2/*.h ping-sr-4/*.h) install/amalgamate LICENSE $(BUILD)/commit
	$(call run,GEN,$@,install/amalgamate --version $(VERSION) $(@D) $(LIBRARY_SOURCES))

$(TWO_FILES)/our_control.o: $(TWO_FILES)/our_control.c
	$(call run,CC,$<,$(CC) -std=c11 $(CFLAGS) $(WARNINGS) -fPIC -c $< -o $@)

$(TWO_FILES)/libour_control.a: $(TWO_FILES)/our_control.o
	$(ARCHIVE)

$(SHARED): $(TWO_FILES)/our_control.o
	$(call run,LD,$@,$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl$(comma)-soname$(comma)$(SONAME) -Wl$(comma)--no-undefined $^ $(LIBS) -o $@)
comma = ,

# For tests: the echo pair on the two files, instead of the library that the stages are made of.
COPIES = $(addprefix $(BUILD)/examples/two-files/,echo_client echo_server)
$(COPIES): $(BUILD)/examples/two-files/%: examples/%.c $(TWO_FILES)/libour_control.a
	$(COMPILE_ALONE)
$(COPIES): ALONE += -I$(TWO_FILES)

# Every program keeps its place, by which -t finds verbs-trace.
COMMANDS = $(PROGRAMS) $(ONE_FILE) devices/devices
INSTALLED = $(COMMANDS) verbs-trace/verbs-trace verbs-trace/libverbs-trace.so \
	    $(wildcard verbs-trace/picture/*.*)
INSTALL = install/install --destdir "$(DESTDIR)" --prefix "$(PREFIX)" --libdir "$(LIBDIR)" --version $(VERSION)

$(TWO_FILES)/manual: common/our_control.h install/our_control.7.in install/manual $(COMMANDS)
	$(call run,GEN,$@,install/manual --version $(VERSION) $@ $(COMMANDS))
	@touch $@

installed-library: $(TWO_FILES)/libour_control.a $(SHARED)

install: all installed-library $(TWO_FILES)/manual ## PREFIX=/usr/local DESTDIR= LIBDIR=: install library, programs and manual
	@$(INSTALL) $(INSTALLED)

uninstall: ## with the same variables: remove what was installed
	@$(INSTALL) --remove

# With the list of its files, which git would know: see tools/files.
PACKED = $(BUILD)/rdma-by-example-$(VERSION).tar.gz
dist: ## pack the commit that is checked out: build/rdma-by-example-VERSION.tar.gz
	@mkdir -p $(BUILD)
	@git ls-tree -r --name-only HEAD > $(BUILD)/MANIFEST
	git archive --prefix=rdma-by-example-$(VERSION)/ --add-file=$(BUILD)/MANIFEST -o $(PACKED) HEAD

.PHONY: FORCE amalgamation dist installed-library install uninstall
