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

# With the names by which programs are linked, and started.
$(SHARED): $(TWO_FILES)/our_control.o
	$(call run,LD,$@,$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl$(comma)-soname$(comma)$(SONAME) -Wl$(comma)--no-undefined $^ $(LIBS) -o $@)
	@for name in $(SONAME) libour_control.so; do ln -sf $(@F) $(@D)/$$name; done
comma = ,

# For tests: the echo pair on the two files, instead of the library that the stages are made of.
COPIES = $(addprefix $(BUILD)/examples/two-files/,echo_client echo_server)
$(COPIES): $(BUILD)/examples/two-files/%: examples/%.c $(TWO_FILES)/libour_control.a
	$(COMPILE_ALONE)
$(COPIES): ALONE += -I$(TWO_FILES)

$(TWO_FILES)/manual: common/our_control.h install/our_control.7.in install/manual
	$(call run,GEN,$@,install/manual --version $(VERSION) $@)
	@touch $@

installed-library: $(TWO_FILES)/libour_control.a $(SHARED) $(TWO_FILES)/manual verbs-trace verbs-sim

# $(call files,put) installs all, and $(call files,drop) removes it: mode, folder, files for the shell.
DOC = $(PREFIX)/share/doc/rdma-by-example
TRACER = $(PREFIX)/lib/verbs-trace
define files
$(call $(1),644,$(PREFIX)/include,$(TWO_FILES)/our_control.h)
$(call $(1),644,$(LIBDIR),$(TWO_FILES)/libour_control.a)
$(call $(1),755,$(LIBDIR),$(SHARED) $(TWO_FILES)/$(SONAME) $(TWO_FILES)/libour_control.so)
$(call $(1),644,$(LIBDIR)/pkgconfig,$(TWO_FILES)/our_control.pc)
$(call $(1),644,$(PREFIX)/share/man/man3,$(TWO_FILES)/manual/*.3)
$(call $(1),644,$(PREFIX)/share/man/man7,$(TWO_FILES)/manual/*.7)
$(call $(1),755,$(PREFIX)/bin,verbs-trace/verbs-trace)
$(call $(1),644,$(TRACER),verbs-trace/libverbs-trace.so)
$(call $(1),644,$(TRACER)/picture,verbs-trace/picture/*.*)
$(call $(1),755,$(PREFIX)/bin,verbs-sim/verbs-sim)
$(call $(1),644,$(PREFIX)/lib/verbs-sim,verbs-sim/libverbs-sim.so)
$(call $(1),644,$(PREFIX)/share/man/man1,docs/verbs-trace.1)
$(call $(1),644,$(DOC),LICENSE CHANGELOG.md)
$(call $(1),644,$(DOC)/examples,examples/*.c)
endef
put = @mkdir -p "$(DESTDIR)$(2)" && for file in $(3); do \
	if [ -h $$file ]; then cp -P $$file "$(DESTDIR)$(2)"; else install -m $(1) $$file "$(DESTDIR)$(2)"; fi || exit; done
drop = @for file in $(3); do rm -f "$(DESTDIR)$(2)/$$(basename $$file)"; done

install: installed-library ## PREFIX=/usr/local DESTDIR= LIBDIR=: install the library, its manual, verbs-trace and verbs-sim
	@sed -e 's|@prefix@|$(PREFIX)|' -e 's|@libdir@|$(LIBDIR)|' -e 's|@version@|$(VERSION)|' install/our_control.pc.in > $(TWO_FILES)/our_control.pc
	$(call files,put)
	@[ -n "$(DESTDIR)" ] || echo "If $(LIBDIR) is a directory of the loader's, run ldconfig now; if not, set LD_LIBRARY_PATH or use -Wl,-rpath."

uninstall: installed-library ## with the same variables: remove what was installed
	$(call files,drop)
	@rmdir --ignore-fail-on-non-empty $(foreach folder,$(DOC)/examples $(DOC) $(TRACER)/picture $(TRACER) $(PREFIX)/lib/verbs-sim,"$(DESTDIR)$(folder)")

# With the list of its files, which git would know: see tools/files.
PACKED = $(BUILD)/rdma-by-example-$(VERSION).tar.gz
dist: ## pack the commit that is checked out: build/rdma-by-example-VERSION.tar.gz
	@mkdir -p $(BUILD)
	@git ls-tree -r --name-only HEAD > $(BUILD)/MANIFEST
	git archive --prefix=rdma-by-example-$(VERSION)/ --add-file=$(BUILD)/MANIFEST -o $(PACKED) HEAD

.PHONY: FORCE amalgamation dist installed-library install uninstall
