"""Results and the corpus as HTML pages that need no server: one template, one style, one script.

``cases`` prepares the data of the cases. ``verify_page`` makes the page of a run, ``site`` that of
a report. ``render`` fills the template. Every text of a testee stays text: the template escapes it,
and the script only writes text nodes.
"""
