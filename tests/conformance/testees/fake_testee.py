"""A tiny testee that misbehaves in the way its first argument says. Never collected as a test."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

DESCRIPTION = {"protocol": 1, "name": "fake", "version": "1", "language": "Python"}


def say(document: object) -> None:
    print(json.dumps(document), flush=True)


def answer(mode: str, request: dict[str, object]) -> None:
    seq = request["seq"]
    messages = request.get("messages", [])
    assert isinstance(messages, list)
    is_bad = any(message.get("value") == "YmFk" for message in messages)  # the value b"bad"
    if mode == "good":
        say({"seq": seq, "rejected": {"offset": 0}} if is_bad else {"seq": seq, "events": []})
        return
    if not is_bad:  # all others misbehave on the bad value only
        say({"seq": seq, "events": []})
        return
    print(f"about to misbehave: {mode}", file=sys.stderr, flush=True)
    match mode:
        case "hang":
            time.sleep(60)
        case "garbage":
            print("12:00:01 INFO decoding", flush=True)
        case "array":
            say([seq])
        case "nan":
            print(f'{{"seq":{seq},"events":[],"speed":NaN}}', flush=True)
        case "wrong-seq":
            say({"seq": 999, "events": []})
        case "messages":
            say({"seq": seq, "messages": []})
        case "exit":
            sys.exit(3)
        case "half":
            sys.stdout.write('{"seq":')
            sys.stdout.flush()
            sys.exit(0)
        case "no-line-end":
            sys.stdout.write(json.dumps({"seq": seq, "events": []}))
            sys.stdout.flush()
            sys.exit(0)
        case "signal":
            os.kill(os.getpid(), 9)
        case "too-much":
            sys.stdout.write("x" * 200_000)
            sys.stdout.flush()
        case "flood":
            while True:
                say({"seq": seq, "events": [], "more": "x" * 1000})
        case "grandchild":
            subprocess.run([sys.executable, "-c", "import time; time.sleep(60)"], check=False)
        case "orphan":  # the grandchild leaves session and group, and keeps the pipes open
            sleep = "import time; time.sleep(600)"
            subprocess.Popen([sys.executable, "-c", sleep], start_new_session=True)
            say({"seq": seq, "events": []})
            sys.exit(3)
        case "late":
            time.sleep(2)
            say({"seq": seq, "events": []})
            say({"seq": int(str(seq)) + 1, "events": [{"kind": "late"}]})
        case "loud":
            print("e" * 1_000_000, file=sys.stderr, flush=True)
            say({"seq": seq, "rejected": {}})
        case "deep":
            print(f'{{"seq":{seq},"events":' + "[" * 200_000, flush=True)
        case "error":
            say({"seq": seq, "error": {"problem": "what is this"}})
        case "memory":
            kept = []
            while True:
                kept.append(bytearray(b"x" * 10_000_000))
        case "memory-of-a-child":
            eat = "kept = []\nwhile True: kept.append(bytearray(b'x' * 10_000_000))"
            subprocess.run([sys.executable, "-c", eat], check=False)
        case "head-and-tail":
            print("panic: the reason\n" + "goroutine\n" * 50_000 + "the last word", file=sys.stderr)
            sys.exit(2)
        case "blank-lines":
            print("\n\r\n", flush=True)
            say({"seq": seq, "rejected": {}})
        case _:
            raise SystemExit(f"no mode {mode}")


def main(mode: str) -> int:
    if mode == "stubborn":
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
    if mode == "no-start":
        print("cannot find my library", file=sys.stderr, flush=True)
        return 5
    is_ahead, mode = mode.startswith("ahead-"), mode.removeprefix("ahead-")
    waiting: list[dict[str, object]] = []
    for line in sys.stdin:
        request = json.loads(line)
        if request["cmd"] == "stop" and mode == "stubborn":
            time.sleep(600)
        if request["cmd"] == "stop":
            return 4 if mode == "bad-end" else 0
        if request["cmd"] == "start":
            if mode == "silent-start":
                time.sleep(60)
            protocol = 2 if mode == "protocol-2" else 1
            formats = {"toy": {"encode": True}}
            say({**DESCRIPTION, "protocol": protocol, "formats": formats, "ahead": is_ahead})
        elif mode == "three":
            waiting.append(request)
            for each in waiting if len(waiting) == 3 else ():
                answer("good", each)
        else:
            answer("good" if mode in ("bad-end", "deaf", "stubborn") else mode, request)
        if mode == "deaf":
            time.sleep(60)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
