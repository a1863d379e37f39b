#!/usr/bin/env python3
"""The timeline of `batchlight view` in a real browser on a program that runs meanwhile: new steps come into the
picture, the chart of step times and the head, within seconds of their end, until the run is over.

Usage: timeline_follow_test.py BATCHLIGHT [unittest arguments]. Exits with 77 (skipped) when the machine has no
browser."""
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import webdriver

BATCHLIGHT = ''
STEP_S = 0.05
PROGRAM = f'''import batchlight, pathlib, sys, time
for i in range(100000):
    if pathlib.Path(sys.argv[1]).exists():
        break
    with batchlight.annotate(f"step {{i}}"):
        time.sleep({STEP_S})
'''
COUNT = 'return window.batchlightTimeline?.app?.model.first.info.steps[0]?.count ?? 0'


class Follow(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix='bl-follow-')))
        self.browser = self.enterContext(webdriver.Browser())
        self.browser.prefer(color_scheme='light', reduced_motion='reduce')
        self.browser.resize(1280, 900)

    def wait(self, script, *arguments):
        end = time.monotonic() + webdriver.LONG_S
        while time.monotonic() < end:
            if value := self.browser.run(script, *arguments):
                return value
            time.sleep(0.05)
        self.fail(f'never true: {script}; the page says: {self.browser.run("return document.body.innerText")[:2000]}')

    def start(self, *words):
        process = subprocess.Popen([BATCHLIGHT, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_a_run_is_followed_from_its_first_steps_to_its_end(self):
        program, recording, stop = self.folder / 'loop.py', self.folder / 'run.batchlight', self.folder / 'stop'
        program.write_text(PROGRAM)
        self.addCleanup(stop.touch)
        job = self.start('profile', '-o', recording, sys.executable, program, stop)
        end = time.monotonic() + webdriver.LONG_S
        while subprocess.run([BATCHLIGHT, 'summary', recording], capture_output=True).returncode != 0:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.5)
        self.addCleanup(self.browser.open_url, 'about:blank')
        self.browser.open_url(self.start('view', '--no-browser', recording).stdout.readline().strip())
        first = self.wait(COUNT)
        head = self.browser.text('.timeline-bar .span')
        self.assertTrue(head.startswith('live, '), head)
        # Each new step comes into the chart, the head and, at its end, the picture.
        more = self.wait(f'const count = (() => {{ {COUNT} }})(); return count > arguments[0] + 30 && count', first)
        self.assertEqual(self.browser.run('return Number(document.querySelector(".step-strip").getAttribute("aria-valuemax")) >= arguments[0] - 1', more), True)
        self.assertRegex(self.browser.text('.step-head'), r'^Step times\s+last 5\d\.\d ms$')
        self.assertNotEqual(self.browser.text('.timeline-bar .span'), head)
        self.wait('const {view, whole} = batchlightTimeline.app.model; return view.to >= whole.to')
        # The page is at most so far behind the run, whose steps go on meanwhile.
        behind = self.browser.run('const {info} = batchlightTimeline.app.model.first; const {to} = info.steps[0];'
                                  'return Date.now() * 1e6 - Number(info.start_utc_ns) - to[to.length - 1]') / 1e9
        self.assertLess(behind, webdriver.LONG_S)
        # The run ends: the page says so, and what it shows is complete.
        stop.touch()
        job.wait(webdriver.LONG_S)
        self.wait('const {info} = batchlightTimeline.app.model.first; return !info.growing && info.complete')
        self.wait('return !document.querySelector(".timeline-bar .span").innerText.startsWith("live")')
        self.assertRegex(self.browser.text('.step-head'), r'^Step times\s+median 5\d\.\d ms$')
        self.assertEqual([error for error in self.browser.errors() if '409 (Conflict)' not in error], [])


if __name__ == '__main__':
    BATCHLIGHT = sys.argv.pop(1)
    if webdriver.missing():
        print('skipped:', webdriver.missing())
        sys.exit(77)
    unittest.main()
