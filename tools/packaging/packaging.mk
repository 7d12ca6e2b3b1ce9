# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# The library for other people's programs: as an archive, as two files to copy, and installed with its manual and, from the whole
# tree, with verbs-trace and verbs-sim.

# common/, and the ways of waiting that suit a program of any kind, from the stages that teach them.
LIBRARY_SOURCES = $(wildcard common/*.c) ping-sr-0/completions.c ping-sr-2/keepalive.c \
		  ping-sr-4/cm_events.c ping-sr-4/completions.c
LIBRARY = $(BUILD)/libour_control.a
$(LIBRARY): $(call objects,$(LIBRARY_SOURCES))
	$(ARCHIVE)

TAKES_packaging = common $(filter-out common/%,$(LIBRARY_SOURCES)) $(wildcard ping-sr-2/keepalive.h ping-sr-4/*.h) examples LICENSE CHANGELOG.md
BUILT_packaging = $(LIBRARY) installed-library

VERSION = 0.2
# The commit whose public functions and structures this version keeps: tests/house/test_abi.py compares them. Another one with
# each VERSION, and no other.
PROMISED = dad7e8984949
LIBDIR ?= $(PREFIX)/lib
TWO_FILES = $(BUILD)/amalgamation
SONAME = libour_control.so.0
SHARED = $(TWO_FILES)/$(SONAME).$(VERSION)

# Another one than before, if there was another commit.
$(BUILD)/commit: FORCE
	@tools/packaging/commit $@
VERSIONED = $(addprefix $(BUILD)/,program/options.o tools/verbs-trace/tool/launcher.o tools/verbs-sim/runner/options.o)
$(VERSIONED): $(BUILD)/commit
$(VERSIONED): override CPPFLAGS += -DOUR_VERSION='"$(VERSION), commit $(shell tools/packaging/commit)"'

amalgamation: $(TWO_FILES)/our_control.c ## write the library as two files: build/amalgamation/our_control.c and .h

$(TWO_FILES)/our_control.c: $(LIBRARY_SOURCES) $(wildcard common/*.h ping-sr-2/*.h ping-sr-4/*.h) tools/packaging/amalgamate LICENSE $(BUILD)/commit
	$(call run,GEN,$@,tools/packaging/amalgamate --version $(VERSION) $(@D) $(LIBRARY_SOURCES))
$(TWO_FILES)/our_control.o: FLAGS = -fPIC
$(TWO_FILES)/libour_control.a: $(TWO_FILES)/our_control.o
	$(ARCHIVE)
# The loader refuses a program that was linked with another VERSION, which may have other structures.
EXPORTED = $(TWO_FILES)/our_control.map
$(EXPORTED): tools/packaging/packaging.mk
	$(call run,GEN,$@,echo 'OUR_CONTROL_$(VERSION) { global: our_*; local: *; };' > $@)
$(SHARED): $(TWO_FILES)/our_control.o $(EXPORTED)
	$(LINK)
$(SHARED): LINK_FLAGS = -shared -Wl,-soname,$(SONAME) -Wl,--no-undefined -Wl,--version-script=$(EXPORTED)
$(TWO_FILES)/manual: common/our_control.h tools/packaging/our_control.7.in tools/packaging/manual
	$(call run,GEN,$@,tools/packaging/manual --version $(VERSION) $@)
	@touch $@

installed-library: $(TWO_FILES)/libour_control.a $(SHARED) $(TWO_FILES)/manual $(TOOLS)

INSTALL = VERSION=$(VERSION) DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" LIBDIR="$(LIBDIR)" BUILT=$(TWO_FILES) PRODUCTS="$(INSTALLED_verbs-trace) $(INSTALLED_verbs-sim)" tools/packaging/install
install: installed-library ## PREFIX=/usr/local DESTDIR= LIBDIR=: install the library, its manual, verbs-trace and verbs-sim
	@$(INSTALL)

uninstall: installed-library ## with the same variables: remove what was installed
	@$(INSTALL) --remove

# With the list of its files, which git would know: see tools/files.
PACKED = $(BUILD)/rdma-by-example-$(VERSION).tar.gz
dist: ## pack the commit that is checked out: build/rdma-by-example-VERSION.tar.gz
	@mkdir -p $(BUILD)
	@git ls-tree -r --name-only HEAD > $(BUILD)/MANIFEST
	git archive --prefix=rdma-by-example-$(VERSION)/ --add-file=$(BUILD)/MANIFEST -o $(PACKED) HEAD
