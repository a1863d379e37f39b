"""profile --monitor: a job that is watched, windows on request, metrics."""
import http.server
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import unittest
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "cuda")]
from recorded import BATCHLIGHT, BUILD, LONG_S, SOURCE, InFolder  # noqa: E402
from cuda_counters_test import STEPS  # noqa: E402

DOCS = os.path.join(SOURCE, "docs", "prometheus")
FAKES = os.path.join(BUILD, "test", "fakes")
# Steps until the file `over` is there.
RANGES = """
import os, time
import batchlight
i = 0
while not os.path.exists("over"):
    i += 1
    with batchlight.annotate("step"):
        batchlight.mark("in step %d" % i)
        time.sleep(0.005)
"""
OPTIMIZER = """
import os, time, torch
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
while not os.path.exists("over"):
    optimizer.zero_grad()
    model(torch.randn(2, 4)).sum().backward()
    optimizer.step()
    time.sleep(0.005)
"""
AT_ANY_TIME = "realtime_ns=%d\n" % (1 << 62)


def is_open(connection):
    """Whether the other end is; reads what came."""
    connection.setblocking(False)
    try:
        while connection.recv(1 << 16):
            pass
    except BlockingIOError:
        return True
    except ConnectionError:
        pass
    return False


class Monitor(InFolder):
    def start_job(self, name, script, *flags, **variables):
        job = subprocess.Popen(
            [BATCHLIGHT, "profile", "-t", "nvtx,python", "--monitor", "watch", "-o", name, *flags, "--",
             sys.executable, "-c", script], cwd=self.folder, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, universal_newlines=True, env=dict(self.environment, **variables))
        self.addCleanup(job.kill)
        return job

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def statuses(self):
        names = [name for name in os.listdir(self.path("watch"))
                 if name.startswith("status.") and "partial" not in name]
        found = []
        for name in names:
            with open(self.path("watch", name)) as file:
                found.append(dict(line.strip().split("=") for line in file))
        return found

    def wait_for(self, what):
        limit = time.time() + LONG_S
        while time.time() < limit:
            try:
                if what():
                    return
            except OSError:  # not there yet, or replaced just now
                pass
            time.sleep(0.05)
        self.fail("nothing happened")

    def wait_for_step(self, step, jobs):
        self.wait_for(lambda: len(self.statuses()) == jobs
                      and all(int(status["step"]) >= step for status in self.statuses()))

    def end(self, *jobs):
        with open(self.path("over"), "w"):
            pass
        said = []
        for job in jobs:
            said.append(job.communicate(timeout=LONG_S)[1])
            self.assertEqual(job.returncode, 0, said)
        return said

    def ask(self, *words, status=0):
        done = self.batchlight("start", "--run", "watch", *words, env=self.environment)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def dump(self, name):
        return self.batchlight("trace", "dump", name + ".batchlight").stdout.splitlines()

    def test_all_ranks_record_the_same_steps(self):
        os.mkdir(self.path("watch"))
        with open(self.path("watch", "window"), "w") as file:
            file.write("first=1\ncount=1000\nrealtime_ns=1\n")  # of a job that was here before
        jobs = [self.start_job("rank%d" % rank, RANGES, "--step-range", "step", RANK=str(rank))
                for rank in range(2)]
        self.wait_for_step(20, 2)
        said = self.ask("--steps", "+1000:+1009")
        first = int(said.split("steps ")[1].split(" ")[0])
        self.assertIn("asked for already", self.ask("--steps", "+9000:+9001", status=2))
        self.assertIn("is in step", self.ask("--steps", "1:2", "-f", status=2))
        self.wait_for_step(first + 12, 2)
        self.end(*jobs)
        for rank in range(2):
            steps = [int(line.split("in step ")[1].split('"')[0])
                     for line in self.dump("rank%d" % rank) if " Mark " in line]
            self.assertEqual(steps, list(range(first, first + 10)))
        self.assertEqual(os.listdir(self.path("watch")), ["window"])
        self.assertIn("no job is watched", self.ask("--steps", "+1:+2", status=3))

    def test_metrics(self):
        try:
            __import__("torch")
        except ImportError:
            self.skipTest("no PyTorch")
        job = self.start_job("run", OPTIMIZER, "--metrics-file", "job.prom", RANK="3")
        self.wait_for_step(30, 1)

        def has_steps():
            with open(self.path("job.prom")) as file:
                return "_seconds_count" in file.read()
        self.wait_for(has_steps)
        shutil.copy(self.path("job.prom"), self.path("copy"))
        said, = self.end(job)
        self.assertIn("no window was asked for", said)
        self.assertFalse(os.path.exists(self.path("job.prom")), "it would say that the job stands still")
        with open(self.path("copy")) as file:
            text = file.read()
        values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        (steps,) = [float(value) for key, value in values.items() if "_seconds_count" in key]
        (total,) = [float(value) for key, value in values.items() if "_seconds_sum" in key]
        self.assertGreaterEqual(total, steps * 0.005)
        for phase in ("backward", "optimizer_step", "zero_grad"):
            (seconds,) = [float(value) for key, value in values.items() if '"%s"' % phase in key]
            self.assertGreater(seconds, 0)
            self.assertLess(seconds, total)
        self.assertIn('rank="3"', text)
        if shutil.which("promtool"):
            done = subprocess.run(["promtool", "check", "metrics"], input=text, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LONG_S)
            self.assertEqual((done.returncode, done.stdout), (0, ""))

    @unittest.skipUnless(shutil.which("prometheus") and shutil.which("promtool"), "no Prometheus")
    def test_prometheus_scrapes_the_port(self):
        job = self.start_job("run", RANGES, "--step-range", "step", "--metrics-port", "0", RANK="5")
        line = job.stderr.readline()
        self.assertIn("metrics are at http://127.0.0.1:", line)
        port = line.rsplit(":", 1)[1].split("/")[0]
        with open(self.path("prometheus.yml"), "w") as file:
            file.write("global: {scrape_interval: 1s}\nscrape_configs:\n  - job_name: train\n"
                       "    static_configs: [{targets: ['127.0.0.1:%s']}]\n" % port)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            listens = "127.0.0.1:%d" % free.getsockname()[1]
        server = subprocess.Popen(
            ["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data",
             "--web.listen-address=" + listens], cwd=self.folder, env=self.environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)

        def is_scraped():
            done = subprocess.run(
                ["promtool", "query", "instant", "http://" + listens, "batchlight_step"],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=LONG_S)
            return 'rank="5"' in done.stdout
        self.wait_for(is_scraped)
        self.end(job)

    def test_a_collector_of_opentelemetry_gets_them(self):
        taken = []

        class Collector(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                taken.append((self.path, self.headers["Content-Type"], json.loads(body)))
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *words):
                pass
        collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
        self.addCleanup(collector.server_close)
        thread = threading.Thread(target=collector.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(collector.shutdown)
        address = "http://127.0.0.1:%d" % collector.server_address[1]
        job = self.start_job("run", RANGES, "--step-range", "step", "--metrics-otlp", address, RANK="5",
                             OTEL_SERVICE_NAME="my job")
        self.wait_for_step(30, 1)
        self.wait_for(lambda: taken)
        said, = self.end(job)
        self.assertNotIn("metrics are not taken", said)
        self.assertGreaterEqual(len(taken), 2, "the first and the last")
        path, content, body = taken[-1]
        self.assertEqual((path, content), ("/v1/metrics", "application/json"))
        (of_job,) = body["resourceMetrics"]
        self.assertIn({"key": "service.name", "value": {"stringValue": "my job"}}, of_job["resource"]["attributes"])
        metrics = {metric["name"]: metric for metric in of_job["scopeMetrics"][0]["metrics"]}
        (step,) = metrics["batchlight_step"]["gauge"]["dataPoints"]
        self.assertGreaterEqual(step["asDouble"], 30)
        self.assertIn({"key": "rank", "value": {"stringValue": "5"}}, step["attributes"])
        (lengths,) = metrics["batchlight_step_duration_seconds"]["summary"]["dataPoints"]
        self.assertGreaterEqual(lengths["sum"], int(lengths["count"]) * 0.005)
        wrong = self.batchlight("profile", "--monitor", "watch", "--metrics-otlp", "collector:4318", "--", "true")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("http://127.0.0.1:4318", wrong.stderr)

    def test_a_collector_that_never_answers_holds_up_nobody(self):
        mute = socket.socket()
        self.addCleanup(mute.close)
        mute.bind(("127.0.0.1", 0))
        mute.listen(64)  # connections are taken by the kernel
        job = self.start_job("run", RANGES, "--step-range", "step", "--metrics-port", "0",
                             "--metrics-otlp", "http://127.0.0.1:%d" % mute.getsockname()[1])
        address = job.stderr.readline().split("metrics are at ")[1].strip()
        mute.settimeout(LONG_S)
        for _ in range(3):  # on a busy machine that second may be over
            connection, _ = mute.accept()
            with connection, urllib.request.urlopen(address, timeout=LONG_S) as answer:
                answer.read()
                if is_open(connection):
                    break
        else:
            self.fail("an answer came only when the collector was given up")
        self.assertIn("metrics are not taken", job.stderr.readline())
        self.end(job)

    @unittest.skipUnless(shutil.which("promtool"), "no Prometheus")
    def test_alerts_and_dashboard(self):
        done = subprocess.run(["promtool", "test", "rules", os.path.join(DOCS, "alerts_test.yml")],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LONG_S)
        self.assertEqual(done.returncode, 0, done.stdout)
        with open(os.path.join(SOURCE, "src", "capture", "monitor", "metrics.def")) as file:
            known = set(re.findall(r'"(batchlight_\w+)"', file.read()))
        with open(os.path.join(DOCS, "dashboard.json")) as file:
            panels = json.load(file)["panels"]
        with open(os.path.join(DOCS, "alerts.yml")) as file:
            text = file.read() + json.dumps([panel["targets"] for panel in panels])
        used = set(re.sub("_(sum|count)$", "", name) for name in re.findall(r"batchlight_\w+", text))
        self.assertEqual(used - known, set())
        expressions = [target["expr"] for panel in panels for target in panel["targets"]]
        rules = [{"record": "x:%d" % i, "expr": text} for i, text in enumerate(expressions)]
        with open(self.path("rules.yml"), "w") as file:  # JSON is YAML
            json.dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)
        done = subprocess.run(["promtool", "check", "rules", self.path("rules.yml")],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LONG_S)
        self.assertEqual(done.returncode, 0, done.stdout)

    @unittest.skipUnless(os.path.isdir(FAKES), "built without GPU")
    def test_cupti_comes_with_the_window(self):
        """On stand-ins: ten kernels in each recorded step, though CUDA began long before."""
        os.mkdir(self.path("watch"))
        with open(self.path("watch", "window"), "w") as file:
            file.write("first=25\ncount=4\n" + AT_ANY_TIME)
        script = STEPS.replace("cuda.fake_cuda_init()", """cuda.fake_cuda_init()
import os
with open("threads", "w") as file:  # the collector has one of its own
    file.write(str(len(os.listdir("/proc/self/task"))))
""")
        self.assertNotEqual(script, STEPS)
        for flags, threads in ((["-f"], "2"), (["-f", "--monitor", "watch"], "1")):
            done = self.batchlight(
                "profile", *flags, "-o", "run", "/usr/bin/python3", "-c", script, "40",
                env=dict(self.environment, BATCHLIGHT_CUPTI=FAKES,
                         LD_LIBRARY_PATH=FAKES + ":" + os.path.join(FAKES, "driver")))
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(self.path("threads")) as file:
                self.assertEqual(file.read(), threads, flags)
        self.assertEqual(sum(" Kernel " in line for line in self.dump("run")), 40)

    def test_slow_steps_ask_by_themselves(self):
        slow = RANGES.replace("time.sleep(0.005)", "time.sleep(0.005 if not os.path.exists('slow') else 0.05)")
        job = self.start_job("run", slow, "--step-range", "step", "--slow-step", "3")
        self.wait_for_step(100, 1)
        with open(self.path("slow"), "w"):
            pass
        self.wait_for(lambda: os.path.exists(self.path("watch", "window")))
        os.unlink(self.path("slow"))
        with open(self.path("watch", "window")) as file:
            window = dict(line.strip().split("=") for line in file)
        first = int(window["first"])
        self.wait_for_step(first + 8, 1)
        self.end(job)
        steps = [int(line.split("in step ")[1].split('"')[0])
                 for line in self.dump("run") if " Mark " in line]
        self.assertEqual(steps, list(range(first, first + 5)))

    def test_a_board_that_cannot_be_had_leaves_the_program_alone(self):
        script = "import os, glob; os.unlink(glob.glob('*.live/steps')[0])" + RANGES
        job = self.start_job("run", script, "--step-range", "step")
        self.wait_for(self.statuses)
        time.sleep(0.2)
        self.end(job)

    def test_more_processes_than_a_board_holds(self):
        """The others are not watched, and the program runs on."""
        script = """
import os, sys
children = []
for child in range(66):
    children.append(os.fork())
    if children[-1] == 0:
        break
""" + RANGES.replace("0.005", "0.1") + """
if children[-1] == 0:
    os._exit(0)
sys.exit(any(os.waitpid(child, 0)[1] for child in children))
"""
        job = self.start_job("run", script, "--step-range", "step", "--metrics-file", "job.prom")

        def steps():
            with open(self.path("job.prom")) as file:
                return [int(line.split()[-1]) for line in file
                        if line.startswith("batchlight_step{")]
        self.wait_for(lambda: len(steps()) == 64 and min(steps()) > 3)
        self.end(job)

    @unittest.skipUnless(os.geteuid() == 0, "only root can watch another user's program")
    def test_root_writes_through_no_link_of_the_user(self):
        os.chmod(self.folder, 0o711)
        theirs, private = self.path("theirs"), self.path("private")
        os.mkdir(theirs)
        os.mkdir(private)
        shutil.chown(theirs, 65534)
        probe = subprocess.run([BATCHLIGHT, "--version"], stdout=subprocess.DEVNULL, user=65534)
        if probe.returncode != 0:
            self.skipTest("another user cannot run the build")
        script = ("cd %s; mv w moved; ln -s %s w; mv m moved2; ln -s %s m; sleep 2.5; ls %s"
                  % (theirs, private, private, private))
        os.mkdir(theirs + "/m")
        words = ["profile", "--run-as", "nobody", "-t", "nvtx", "-f", "-o", theirs + "/r", "--monitor",
                 theirs + "/w", "--metrics-file", theirs + "/m/job.prom", "--", "sh", "-c", script]
        done = self.batchlight(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("status.", done.stdout)
        self.assertNotIn("job.prom", done.stdout)
        again = self.batchlight(*words)  # the link is there from the start
        self.assertEqual(again.returncode, 4, again.stderr)

    def test_mistakes(self):
        for flags in (["--slow-step", "1.5"], ["--metrics-file", "x"], ["--monitor", "w", "--slow-step", "1"],
                      ["--monitor", "w", "--steps", "1:2"], ["--monitor", "w", "-c", "nvtx", "-p", "x"]):
            done = self.batchlight("profile", *flags, "--", "true")
            self.assertEqual(done.returncode, 2, flags)
        for flags in (["--run", "."], ["--steps", "1:2"], ["--run", "none", "--steps", "1:2"]):
            self.assertNotEqual(self.batchlight("start", *flags).returncode, 0, flags)


if __name__ == "__main__":
    unittest.main()
