"""A test of the comparison: one difference is planted into one of two equal feeds.

A *pair* is one stream of changes in two formats, with settings of both producers. Without a plant
``compare`` has to say EQUAL. With one it has to say DIFFERENT, or its lines name that very part as
not compared. Anything else is a finding:

- a *miss*: EQUAL, and no line names what was planted;
- an *alarm*: not EQUAL without a plant.

``plants`` changes streams, ``pairs`` draws and writes them, ``judging`` judges one pair, ``run``
judges many. ``weakened`` comparisons leave out one part silently. Each has to produce misses;
otherwise the plants do not test that part.
"""
