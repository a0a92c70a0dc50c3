"""Runs a program of ``cdcwire_evidence``: ``python conformance/evidence.py report --full``.

This folder is searched last, so that the installed wheel is judged and not the checkout.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from runpy import run_module

if __name__ == "__main__":
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # no traceback until the program handles it
    folder = str(Path(__file__).resolve().parent)
    sys.path[:] = [*(path for path in sys.path if path != folder), folder]
    del sys.argv[0]
    run_module(f"cdcwire_evidence.{sys.argv[0]}", run_name="__main__", alter_sys=True)
