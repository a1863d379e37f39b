#!/usr/bin/env python3
"""How soon a step of a long run that goes on is in the answers of `batchlight view`.

A made-up program writes the last chunks of a recording of so many million events as time goes by; the page's part is
played by a client that asks `status` once a second. From the moment that a step is in the file to the answer of `run`
that has it: median, 95th percentile and most; and the processor time of the server a second, readings of all included.

    bench/timeline_live.py BATCHLIGHT INGEST_BENCH MILLIONS [SECONDS, 60 by default]
"""

import json
import mmap
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

HEADER = struct.Struct("<IHHIIIIIIIIqQqQqQ")
NS_PER_TICK = 32  # of the recording, which has an event every 300 ticks of each of two threads
PERIOD_S = 0.25   # a chunk of each thread


def chunks_of(file):
    """The file's chunks, in real time: 10,000 events a second and thread, each about 30 steps."""
    data = bytearray(file.read_bytes())
    at = 0
    while at < len(data):
        fields = list(HEADER.unpack_from(data, at))
        fields[5] = os.getpid()
        fields[10] = 0  # ClockKind::kTsc: times are what the second pair says
        fields[13] *= NS_PER_TICK
        fields[15] *= NS_PER_TICK
        fields[16] = 10**9 // NS_PER_TICK
        HEADER.pack_into(data, at, *fields)
        yield bytes(data[at:at + fields[3]])
        at += fields[3]


class Server:
    def __init__(self, program, recording):
        self.process = subprocess.Popen([program, "view", "--no-browser", recording], stdout=subprocess.PIPE,
                                        text=True)
        address, token = self.process.stdout.readline().strip().split("#token=")
        self.address, self.token = address + "api/1/", token

    def ask(self, call, body=None):
        request = urllib.request.Request(self.address + call, json.dumps(body or {}).encode(),
                                         {"Content-Type": "application/json", "Authorization": "Bearer " + self.token})
        with urllib.request.urlopen(request, timeout=600) as answer:
            return json.load(answer)

    def cpu_s(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main(program, ingest_bench, millions, seconds):
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder, "made")
        subprocess.run([ingest_bench, "--make", made, str(2 * millions * 10**6)], check=True)
        chunks = list(chunks_of(next(made.glob("*.blp"))))
        live = pathlib.Path(folder, "run.batchlight.live")
        live.mkdir()
        later = min(len(chunks) // 2, 2 * int(seconds / PERIOD_S))
        with open(live / f"{os.getpid()}-1000.blp", "wb+") as file:
            file.write(b"".join(chunks[:-later]))
            file.flush()
            mapped = mmap.mmap(file.fileno(), 0)  # who writes it
            server = Server(program, live)
            began = time.monotonic()
            while not server.ask("status")["runs"][0]["ready"] or not server.ask("run")["complete"]:
                time.sleep(0.05)
            print(f"{server.ask('run')['events']:,} events, shown after {time.monotonic() - began:.2f} s, "
                  f"{server.cpu_s():.2f} s of processor time")
            try:
                follow(server, file, chunks[-later:])
            finally:
                server.process.terminate()
                server.process.wait()
        mapped.close()


def end_ns(chunk):
    """On the recording's clock, which begins when the process was attached."""
    fields = HEADER.unpack_from(chunk)
    return fields[15] - fields[11]


def follow(server, file, chunks):
    """Writes a pair of chunks at a time, and looks once a second."""
    generation, delays, waiting, steps_ns = 0, [], [], 0
    began, cpu, next_look = time.monotonic(), server.cpu_s(), 0
    while chunks or waiting:
        until = time.monotonic() + PERIOD_S
        if chunks:
            pair, chunks = chunks[:2], chunks[2:]
            file.write(b"".join(pair))
            file.flush()
            waiting.append((min(map(end_ns, pair)), time.monotonic()))
        while (now := time.monotonic()) < until:
            if now < next_look:
                time.sleep(min(until, next_look) - now)
                continue
            next_look = now + 1
            state = server.ask("status")["runs"][0]
            if state["generation"] == generation:
                continue
            generation = state["generation"]
            steps = server.ask("run")["steps"][0]
            seen = time.monotonic()
            steps_ns = steps["to"][-1] - steps["from"][-1]
            delays += [seen - when for end, when in waiting if steps["to"][-1] >= end - 2 * steps_ns]
            waiting = [(end, when) for end, when in waiting if steps["to"][-1] < end - 2 * steps_ns]
        if not chunks and now - began > 600:
            break
    took, delays = time.monotonic() - began, sorted(delays)
    print(f"{len(delays)} times new steps ({len(waiting)} never seen), after {delays[len(delays) // 2]:.2f} s in the "
          f"median, {delays[len(delays) * 95 // 100]:.2f} s at the 95th percentile, {delays[-1]:.2f} s at the most; "
          f"{100 * (server.cpu_s() - cpu) / took:.0f} % of a processor")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]) if len(sys.argv) > 4 else 60)
