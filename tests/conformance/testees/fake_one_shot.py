"""A tiny one-shot testee: ``fake_one_shot.py MODE (decode|encode) FORMAT``. Never collected."""

from __future__ import annotations

import subprocess
import sys
import time

MODE, CMD, FORMAT = sys.argv[1:4]
DATA = sys.stdin.buffer.read() if MODE != "unread" else b""

match MODE:
    case "accept" | "unread":
        print('{"events":[]}' if CMD == "decode" else '{"messages":[]}')
    case "accept-with-1":
        print('{"events":[]}')
        sys.exit(1)
    case "reject":
        print('{"rejected":{"offset":2}}')
        sys.exit(1)
    case "reject-with-0":
        print('{"rejected":{}}')
    case "bare-1":
        print("this is no data", file=sys.stderr)
        sys.exit(1)
    case "uncaught":
        raise RuntimeError("a bug")
    case "silent-0":
        pass
    case "exit-9":
        sys.exit(9)
    case "hang":
        time.sleep(60)
    case "hang-after-answer":
        print('{"events":[]}', flush=True)
        time.sleep(60)
    case "orphan":  # leaves a process that keeps the pipes open
        sleep = "import time; time.sleep(600)"
        subprocess.Popen([sys.executable, "-c", sleep], start_new_session=True)
        print('{"events":[]}')
    case "too-much":
        print("x" * 500_000)
    case "echo":
        shown = DATA.hex()
        print('{"events":[{"kind":"marker","what":"begin","id":"' + f'{CMD} {FORMAT} {shown}"}}]}}')
    case _:
        raise SystemExit(f"no mode {MODE}")
