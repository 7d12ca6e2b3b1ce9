# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# The pages as a site, and what Markdown files show of the code. It is made from the whole tree; alone, only its checks can be tried.

fill: ## write what Markdown files show of the code and of tables
	@python3 -B -m tools.site.fill

docs: ## build the site, which needs no network to be read: build/site/html/index.html (NOTES=1: build/site-notes, for instructors)
	$(call ready,build docs)
	@python3 -B -m tools.site $(if $(NOTES),--notes $(BUILD)/site-notes,$(BUILD)/site)
