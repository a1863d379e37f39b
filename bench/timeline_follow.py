#!/usr/bin/env python3
"""How long after a step's end the page of `batchlight view` shows it, while the program runs on: the chart of step
times, the head and the picture, in headless Chromium. A step every 50 ms, for so many seconds.

Usage: bench/timeline_follow.py BATCHLIGHT [SECONDS]. Needs chromium and chromium-driver."""
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'web/browser_test'))
import timeline_follow_test  # noqa: E402
import webdriver  # noqa: E402

# At the frame in which a new step is drawn: how long ago it ended.
WATCH = '''
window.late = [];
const {model} = batchlightTimeline.app;
let seen = model.first.info.steps[0].count;
model.listen((change) => change === "run" && requestAnimationFrame(() => {
  const {start_utc_ns, steps: [{count, to}]} = model.first.info;
  const now = Date.now() * 1e6 - Number(start_utc_ns);
  for (; seen < count; ++seen) late.push((now - to[seen]) / 1e9);
}));'''


def measure(batchlight, recording, seconds):
    with webdriver.Browser() as browser:
        view = subprocess.Popen([batchlight, 'view', '--no-browser', recording], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            browser.resize(1280, 900)
            browser.open_url(view.stdout.readline().strip())
            browser.wait_for('.step-strip .median')
            browser.run(WATCH)
            time.sleep(seconds)
            return sorted(browser.run('return late'))
        finally:
            view.kill()
            view.wait()


def main(batchlight, seconds='30'):
    with tempfile.TemporaryDirectory() as name:
        program, recording, stop = (pathlib.Path(name) / file for file in ('loop.py', 'run.batchlight', 'stop'))
        program.write_text(timeline_follow_test.PROGRAM)
        job = subprocess.Popen([batchlight, 'profile', '-o', recording, sys.executable, program, stop],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while subprocess.run([batchlight, 'summary', recording], capture_output=True).returncode != 0:
                time.sleep(0.5)
            late = measure(batchlight, recording, int(seconds))
        finally:
            stop.touch()
            job.wait()
        print(f'{len(late)} steps are shown {statistics.median(late):.2f} s after their end in the median, '
              f'95th percentile {late[int(0.95 * len(late))]:.2f} s, most {late[-1]:.2f} s')


if __name__ == '__main__':
    main(*sys.argv[1:])
