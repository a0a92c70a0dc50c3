"""Property cases: Hypothesis makes messages, a testee reads them, a wrong answer is shrunk.

It needs the extra ``generators``. ``cases`` makes golden cases of samples, ``search`` looks for the
smallest ones that fail, and ``saving`` writes them into a golden folder.
"""
