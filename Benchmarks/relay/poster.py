"""Posts in its session when asked to, and says what a post has cost, in nanoseconds.

A line on standard input is "flood COUNT", for posts one after the other, or "single COUNT", for
posts whose observers sleep.
"""

import ctypes
import statistics
import sys
import time


def flood(post, name, count):
    began = time.perf_counter_ns()
    for _ in range(count):
        post(name)
    return (time.perf_counter_ns() - began) / count


def single(post, name, count):
    spans = []
    for _ in range(count):
        time.sleep(0.0005)
        began = time.perf_counter_ns()
        post(name)
        spans.append(time.perf_counter_ns() - began)
    return statistics.median(spans)


def main():
    post = ctypes.CDLL(sys.argv[1]).notify_post
    name = sys.argv[2].encode()
    for line in sys.stdin:
        kind, count = line.split()
        print({"flood": flood, "single": single}[kind](post, name, int(count)), flush=True)


if __name__ == "__main__":
    main()
