# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The settings of Sphinx: the site is Markdown, its theme furo, and nothing comes from other hosts."""

import importlib

project = "RDMA by example"
project_copyright = ""
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
# Code of ours that a highlighter does not know word for word is no mistake of the page.
suppress_warnings = ["misc.highlighting_failure"]
highlight_language = "none"
html_theme = "furo"
html_title = project
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_search_summary = False  # it would be fetched, which a browser does not do from files
html_show_sphinx = False
html_show_copyright = False
# No button to edit a page. Debian 12 has Furo 2022.12, Debian 13 has Furo 2024.08, which gave the option another name.
FURO = [int(part) for part in importlib.import_module("furo").__version__.split(".")]
html_theme_options: dict[str, object] = {"top_of_page_buttons": []} if FURO >= [2023, 8, 19] else {"top_of_page_button": None}
smartquotes = False
