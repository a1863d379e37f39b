"""A loop on the main thread beside a thread that does as it is told: `fight` counts in Python and never
gives the GIL up by itself, `rest` sleeps. Says on stdout for how long the loop was kept from running."""
import json
import sys
import threading
import time

stop = threading.Event()


def count_up():
    number = 0
    while not stop.is_set():
        for _ in range(1000):
            number += 1
    return number


def rest():
    while not stop.is_set():
        time.sleep(0.01)


def run_queue_s():
    """In which the main thread could run and had no processor."""
    with open("/proc/self/schedstat", encoding="ascii") as file:
        return int(file.read().split()[1]) / 1e9


def train():
    begin, ran, queued = time.monotonic(), time.thread_time(), run_queue_s()
    number = 0
    while time.monotonic() - begin < 3:
        number += 1
    wall = time.monotonic() - begin
    kept = wall - (time.thread_time() - ran) - (run_queue_s() - queued)
    return {"wall_s": wall, "kept_s": kept}


other = threading.Thread(target=count_up if sys.argv[1] == "fight" else rest, name="other")
other.start()
try:
    said = train()
finally:
    stop.set()
    other.join()
print(json.dumps(said))
