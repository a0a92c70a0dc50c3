"""A testee that does its worst: ``hostile_testee.py MODE FILE``. Never collected as a test.

It claims craft and rejects all messages. FILE gets the numbers of its processes. As a one-shot
testee it gets the two words ``decode craft`` too. Every mode misbehaves at the first question;
``end`` misbehaves after the last one.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

MODE, FILE, *ONE_SHOT = sys.argv[1:]
SLEEP = "import time; time.sleep(900)"


def note(*pids: int) -> None:
    """Write numbers of processes. The file appears whole."""
    with open(f"{FILE}.new", "w", encoding="ascii") as file:
        print(os.getpid(), *pids, file=file)
    os.replace(f"{FILE}.new", FILE)


def say(document: object) -> None:
    print(json.dumps(document), flush=True)


def ignore_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def start_daemon(code: str) -> None:
    """Start a process without parent, session and environment. It is running at the return."""
    read, write = os.pipe()  # its end at the daemon is closed when the program begins
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            note()
            os.dup2(os.open(os.devnull, os.O_RDWR), 1)
            os.dup2(1, 2)
            os.execve(sys.executable, [sys.executable, "-c", code], {})
        os._exit(0)
    os.close(write)
    os.read(read, 1)


def misbehave(seq: object) -> None:
    match MODE:
        case "silence":
            time.sleep(900)
        case "flood":
            while True:
                os.write(1, b'{"more":1}' * 1000)
        case "long-problem":
            say({"seq": seq, "rejected": {"problem": "x" * 50_000_000}})
        case "long-word":
            print(f"Error: {'x' * 60_000}", file=sys.stderr, flush=True)
            sys.exit(3)
        case "names":
            image = {"x" * 100_000: None, **dict.fromkeys(map(str, range(100_000)))}
            row = {"kind": "row", "op": "insert", "schema": "test", "table": "t", "key": []}
            say({"seq": seq, "events": [{**row, "before": None, "after": image}]})
        case "line-ends":
            while True:
                os.write(1, b"\n" * 1000)
        case "nan":
            print(f'{{"seq":{seq},"events":[],"speed":NaN}}', flush=True)
        case "late":
            time.sleep(3)
        case "loud":
            for _ in range(100):
                os.write(2, b"\x1b[2J" * 10_000)
        case "memory":
            kept = []
            while True:
                kept.append(bytearray(b"x" * 10_000_000))
        case "orphan":  # a process in another session keeps the pipes open
            note(subprocess.Popen([sys.executable, "-c", SLEEP], start_new_session=True).pid)
            sys.exit(3)
        case "daemon":
            start_daemon(SLEEP)
        case "memory-of-a-daemon":
            start_daemon(f"kept = bytearray(b'x' * 300_000_000); {SLEEP}")
            time.sleep(900)
        case "deaf":  # nothing but SIGKILL ends it and its child
            ignore_signals()
            note(subprocess.Popen([sys.executable, "-c", SLEEP], start_new_session=True).pid)
            time.sleep(900)
        case _:
            pass


def main() -> int:
    if ONE_SHOT:
        sys.stdin.read()
        misbehave(0)
        say({"rejected": {}})
        return 1
    for line in sys.stdin:
        request = json.loads(line)
        if request["cmd"] == "start":
            about = {"protocol": 1, "name": "hostile", "version": "1", "language": "Python"}
            say({**about, "formats": {"craft": {}}})
        elif request["cmd"] == "stop":
            if MODE == "end":
                ignore_signals()
                note()
                time.sleep(900)
            return 0
        else:
            misbehave(request["seq"])
            say({"seq": request["seq"], "rejected": {}})
    return 0


if __name__ == "__main__":
    sys.exit(main())
