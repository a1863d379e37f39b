"""Uses known amounts of processor time, memory and disk, and says on stdout what the system counted."""
import json
import os
import resource
import sys
import time

import batchlight

MIB = 1 << 20


def spin(seconds):
    begin = time.process_time()
    while time.process_time() - begin < seconds:
        pass


def main():
    child_s = float(sys.argv[1])
    pid = os.fork()
    if pid == 0:  # records nothing
        spin(child_s)
        block = bytearray(64 * MIB)
        for page in range(0, len(block), 4096):
            block[page] = 1
        time.sleep(1.5)  # for it to be seen
        os._exit(0)
    with batchlight.annotate("fill memory"):
        block = bytearray(256 * MIB)
        for page in range(0, len(block), 4096):
            block[page] = 1
        time.sleep(0.4)
    with batchlight.annotate("write"):
        with open("written", "wb") as file:
            file.write(os.urandom(MIB) * 32)
            file.flush()
            os.fsync(file.fileno())
        time.sleep(0.3)
    spin(1)
    block = None
    with batchlight.annotate("rest"):
        time.sleep(0.5)
    os.waitpid(pid, 0)
    used = resource.getrusage(resource.RUSAGE_SELF)
    with open("/proc/self/io", encoding="ascii") as file:
        written = int(file.read().split("\nwrite_bytes: ")[1].split()[0])
    print(json.dumps({"cpu_s": used.ru_utime + used.ru_stime, "peak_kib": used.ru_maxrss,
                      "written": written, "pid": os.getpid(), "child": pid}))


main()
