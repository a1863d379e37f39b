#!/usr/bin/env python3
"""What a frame of the timeline costs in headless Chromium without a GPU, panning and zooming in every frame: CPU
time of the page's main thread, of its scripts and of all processes of the browser, which unlike wall time hold on
a busy machine.

Usage: bench/timeline_frames.py SCRIPT STYLE [WIDTH HEIGHT]: the bundles of web/. Needs chromium and chromium-driver."""
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'web/browser_test'))
import timeline_page  # noqa: E402
import timeline_perfetto  # noqa: E402
import webdriver  # noqa: E402

FRAMES = 120
WAVE = '''
const done = arguments[1], frames = arguments[0];
const {model} = batchlightTimeline.app;
const {from, to} = model.view;
const [length, times] = [to - from, []];
let i = 0, before = performance.now();
const step = (now) => {
  times.push(now - before);
  before = now;
  if (++i > frames) { model.show({from, to}); return done(times.slice(1).sort((a, b) => a - b)); }
  const shift = 0.1 * length * Math.sin(i / 9), zoom = 0.04 * length * Math.sin(i / 5);
  model.show({from: from + shift - zoom, to: to + shift + zoom});
  requestAnimationFrame(step);
};
requestAnimationFrame(step);'''
# name, steps, layers, more threads, threads of calls wide enough for a label, their length, pieces of the others', part of the
# run on the screen
CASES = (('a step', 40, 12, 20, 0, 0, 1, 0.025), ('ten steps', 40, 12, 20, 0, 0, 1, 0.25), ('whole run', 400, 12, 20, 0, 0, 1, 1),
         ('labels', 40, 12, 20, 9, 850_000, 1, 0.45), ('both', 110, 12, 8, 9, 1_350_000, 3, 0.263))


def cpu_s():
    """CPU seconds of all processes below this one."""
    return sum(seconds for _, seconds in timeline_perfetto.processes(os.getpid()))


def metrics(browser):
    return {one['name']: one['value'] for one in browser.devtools('Performance.getMetrics')['metrics']}


def measure(browser, name, width, height):
    counts = browser.run('return batchlightTimeline.counts()')
    before, cpu = metrics(browser), cpu_s()
    times = browser.run_async(WAVE, FRAMES)
    after, cpu_after = metrics(browser), cpu_s()
    part = {key: 1000 * (after[key] - before[key]) / FRAMES for key in ('TaskDuration', 'ScriptDuration')}
    heap = after['JSHeapUsedSize'] / 2**20
    print(f'{name:10} {width}x{height} {counts["lanes"]:5} {counts["items"]:8,} {counts["labels"]:6} {part["ScriptDuration"]:7.1f} '
          f'{part["TaskDuration"]:8.1f} {1000 * (cpu_after - cpu) / FRAMES:8.1f} {times[len(times) // 2]:8.1f} {heap:8.0f}', flush=True)


def main(script, style, width='1600', height='900'):
    print('case       size       rows    items labels  script     main  all cpu  rAF p50  heap MiB   (ms a frame)')
    with tempfile.TemporaryDirectory() as folder, webdriver.Browser() as browser:
        browser.devtools('Performance.enable', timeDomain='threadTicks')
        for name, *made, share in CASES:
            page = pathlib.Path(folder) / 'page.html'
            timeline_page.write(script, style, page, *made)
            browser.resize(int(width), int(height))
            browser.open_url(page.as_uri())
            browser.wait_for('.region')
            browser.run('batchlightTimeline.app.dock.setOpen(false);'
                        'const {model} = batchlightTimeline.app; const {from, to} = model.whole;'
                        'const middle = (from + to) / 2, half = (to - from) * arguments[0] / 2;'
                        'model.show({from: middle - half, to: middle + half});'
                        'if (arguments[1]) model.setFilter("thread");', share, name == 'both')  # the most rows of calls
            for _ in range(20):
                browser.wait_frames(5)
                if not browser.run('return batchlightTimeline.app.model.first.cache.busy'):
                    break
            measure(browser, name, width, height)


if __name__ == '__main__':
    main(*sys.argv[1:])
