#!/usr/bin/env python3
"""What the page of `batchlight view` costs on recordings of any size, in headless Chromium without a GPU, 1600 x 900:
from a key to the changed picture and to fresh data, frames while it is panned over the run, memory of the page's
process, and (up to two million events) the file that `view --html` makes: how large it is, and when it is shown.

Usage: bench/timeline_served.py BATCHLIGHT RUN.... Needs chromium and chromium-driver; smaps of Linux."""
import contextlib
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'web/browser_test'))
import timeline_frames  # noqa: E402
import timeline_perfetto  # noqa: E402
import webdriver  # noqa: E402

READ_S = 300
IN_A_FILE = 2_000_000  # events, at most
KEYS = ('w', 'w', 'd', 'd', 's', 'a', 'a', 's') * 4
# Event Timing of the browser itself: from a key to the frame after it, in steps of 8 ms, none below 16; and to
# the moment at which the frame that the key changed, or the one with the last data that it asked for, is drawn.
WATCH = '''
window.measured = {events: [], drawn: [], fresh: []};
new PerformanceObserver((list) => { for (const {name, duration} of list.getEntries()) if (name === "keydown") measured.events.push(duration); })
  .observe({type: "event", durationThreshold: 16});
const {model} = batchlightTimeline.app;
const afterFrame = (then) => requestAnimationFrame(() => { const {port1, port2} = new MessageChannel(); port1.onmessage = then; port2.postMessage(0); });
let began = 0;
document.addEventListener("keydown", (event) => {
  const at = began = event.timeStamp;
  afterFrame(() => {
    measured.drawn.push(performance.now() - at);
    const wait = () => at !== began ? 0 : model.runs.some(({cache}) => cache.busy)
      ? requestAnimationFrame(wait) : afterFrame(() => measured.fresh.push(performance.now() - at));
    wait();
  });
});'''
PAN = '''
const [frames, share, done] = arguments;
const {model} = batchlightTimeline.app;
const {from, to} = model.view, {whole} = model;
const length = (whole.to - whole.from) * share, most = whole.to - length, times = [];
let i = 0, before = performance.now();
const step = (now) => {
  times.push(now - before);
  before = now;
  if (++i > frames) { model.show({from, to}); return done(times.slice(1).sort((a, b) => a - b)); }
  const begin = Math.min(most, whole.from + (0.1 + 0.015 * i * share) * (whole.to - whole.from));
  model.show({from: begin, to: begin + length});
  requestAnimationFrame(step);
};
requestAnimationFrame(step);'''
FRAMES = 300
SHARE = 0.02   # of the run, on the screen while it is panned over
LATE_MS = 25   # a frame of 60 a second was left out
SHOWN = ('window.shown = 0; const look = () => { if (window.batchlightTimeline?.counts()?.items > 0) {'
         'const {port1, port2} = new MessageChannel(); port1.onmessage = () => { window.shown = performance.now(); }; port2.postMessage(0); }'
         'else requestAnimationFrame(look); }; requestAnimationFrame(look);')


def until(browser, script):
    end = time.monotonic() + READ_S
    while not browser.run(script):
        if time.monotonic() > end:
            raise RuntimeError(f'never true: {script}')
        time.sleep(0.05)


def page_mib():
    """Proportional memory of the largest process of a page, of this browser's."""
    sizes = []
    for pid, _ in timeline_perfetto.processes(os.getpid()):
        with contextlib.suppress(OSError):
            if b'--type=renderer' in pathlib.Path(f'/proc/{pid}/cmdline').read_bytes():
                sizes += re.findall(r'(?m)^Pss: +(\d+)', pathlib.Path(f'/proc/{pid}/smaps_rollup').read_text())
    return max(map(int, sizes)) / 1024


def settle(browser):
    browser.wait_frames(3)
    until(browser, 'return !batchlightTimeline.app.model.first.cache.busy')
    browser.wait_frames(3)


def words(values):
    return f'{statistics.median(values):.0f} (most {max(values):.0f}) ms' if values else 'under 16 ms each'


def keys(browser):
    browser.run('batchlightTimeline.app.stage.region.focus()')
    browser.run(WATCH)
    for key in KEYS:
        browser.keys(key)
        settle(browser)
        time.sleep(0.1)
    measured = browser.run('return measured')
    print(f'  key to changed picture   {words(measured["drawn"])}; by Event Timing, of {len(KEYS)} those of 16 ms and more: '
          f'{sorted(measured["events"]) or "none"}')
    print(f'  key to fresh data        {words(measured["fresh"])}')


def frames(browser):
    browser.devtools('Performance.enable', timeDomain='threadTicks')
    before, cpu = timeline_frames.metrics(browser), timeline_frames.cpu_s()
    times = browser.run_async(PAN, FRAMES, SHARE)
    after, cpu = timeline_frames.metrics(browser), timeline_frames.cpu_s() - cpu
    main = 1000 * (after['TaskDuration'] - before['TaskDuration']) / FRAMES
    late = sum(time > LATE_MS for time in times)
    print(f'  {FRAMES} frames of panning    {times[len(times) // 2]:.1f} ms each in the median, {late} of over {LATE_MS} ms; '
          f'main thread {main:.1f} ms, all processes and the server {1000 * cpu / FRAMES:.1f} ms a frame')


def memory(browser, empty):
    """After all that fills it: every zoom, every row, a search, a range with its tables."""
    browser.run('const {app} = batchlightTimeline; app.search.set("a"); app.model.setRange({...app.model.whole});')
    time.sleep(3)
    for share in (1, 0.3, 0.1, 0.03, 0.01, 0.001):
        browser.run('const {model} = batchlightTimeline.app; const {from, to} = model.whole;'
                    'model.show({from: from + 0.4 * (to - from), to: from + (0.4 + 0.6 * arguments[0]) * (to - from)})', share)
        settle(browser)
        browser.run('const {scroller} = batchlightTimeline.app.stage; scroller.scrollTop = scroller.scrollTop ? 0 : 1e6')
        settle(browser)
    heap = browser.devtools('Runtime.getHeapUsage')
    held = heap['usedSize'] + heap.get('backingStorageSize', 0)
    print(f'  memory of its process    {page_mib():.0f} MiB (Pss; an empty page {empty:.0f} MiB), of which JavaScript holds '
          f'{held / 2**20:.1f} MiB, its arrays included')


def served(batchlight, run):
    with webdriver.Browser() as browser:
        browser.prefer(color_scheme='light', reduced_motion='reduce')
        browser.resize(1600, 900)
        browser.open_url('about:blank')
        empty = page_mib()
        server = subprocess.Popen([batchlight, 'view', '--no-browser', run], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        try:
            browser.open_url(server.stdout.readline().strip())
            until(browser, 'return window.batchlightTimeline?.app?.model.first.info.complete && batchlightTimeline.counts().items > 0')
            time.sleep(5)  # the server has worked out what the first selection needs
            settle(browser)
            events, items = browser.run('const {app, counts} = batchlightTimeline; return [app.model.first.info.events, counts().items]')
            print(f'{run}: {events:,} events, {items:,} items in the first picture', flush=True)
            keys(browser)
            frames(browser)
            memory(browser, empty)
            return events
        finally:
            server.kill()
            server.wait()


def in_a_file(batchlight, run):
    with tempfile.TemporaryDirectory() as folder, webdriver.Browser() as browser:
        page = pathlib.Path(folder) / 'page.html'
        subprocess.run([batchlight, 'view', '--html', page, run], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        browser.resize(1600, 900)
        browser.devtools('Page.addScriptToEvaluateOnNewDocument', source=SHOWN)
        shown, first_mib = [], 0
        for _ in range(5):
            browser.open_url('about:blank')
            browser.open_url(page.as_uri())
            until(browser, 'return window.shown > 0')
            shown.append(browser.run('return window.shown'))
            first_mib = first_mib or page_mib()  # later what is left of the page before is in it
        held = browser.run('return batchlightTimeline.app.model.first.info.static.left_out')
        print(f'  in a file                {page.stat().st_size / 2**20:.1f} MiB, {held:,} events left out, shown after {words(shown)}; '
              f'memory of its process {first_mib:.0f} MiB')


def main(batchlight, *runs):
    for run in runs:
        if served(batchlight, run) <= IN_A_FILE:
            in_a_file(batchlight, run)


if __name__ == '__main__':
    main(*sys.argv[1:])
