#!/usr/bin/env python3
"""The rows of the step breakdown in a real browser: they open to the events that they are made of.

Usage: phase_events_test.py SAMPLE_REPORT BATCHLIGHT [unittest arguments]. Exits with 77 (skipped) when the
machine has no browser."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import webdriver
from page_text import ms, phases

SAMPLE_REPORT = BATCHLIGHT = ''
RECORDINGS = pathlib.Path(__file__).resolve().parents[2] / 'tests/recordings'


def open_phase(browser, name):
    browser.run('[...document.querySelectorAll("#phases .opener")]'
                '.find(button => button.innerText.trim() === arguments[0]).click()', name)


def phase_events(browser):
    """The events of the phase that is open: name, share of the phase in %, ms and count per step."""
    rows = browser.run('return [...document.querySelectorAll("#phases tr.events:not([hidden]) tbody tr")]'
                       '.map(row => [row.querySelector(".tree-label [title]").title,'
                       ' ...[...row.cells].slice(1).map(cell => cell.innerText.trim())])')
    return [(name, float(share.split()[0]), ms(time), float(count.replace(',', '')), longest)
            for name, share, time, count, longest in rows]


class PhaseEvents(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix='bl-phases-')))
        subprocess.run([SAMPLE_REPORT, cls.folder / 'small'], check=True)
        subprocess.run([SAMPLE_REPORT, cls.folder / 'gpu', '60', '40', 'gpu'], check=True)
        subprocess.run([BATCHLIGHT, 'report', '-o', cls.folder / 'h200_train', RECORDINGS / 'h200_train.batchlight'],
                       check=True, stdout=subprocess.DEVNULL)
        cls.browser = cls.enterClassContext(webdriver.Browser())

    def setUp(self):
        self.browser.resize(1280, 900)

    def tearDown(self):
        self.assertEqual(self.browser.errors(), [])

    def test_a_phase_opens_to_the_events_that_it_is_made_of(self):
        self.browser.open(self.folder / 'gpu/index.html')
        for track, phase, event, longest in (('CPU', 'forward', 'aten::', r'^[\d.]+ .?s in step \d+$'),
                                             ('GPU 0', 'other kernels', '', r'^[\d.]+ .?s in step \d+$')):
            self.browser.run('[...document.querySelectorAll("#phases .choice label")]'
                             '.find(label => label.innerText.trim() === arguments[0]).click()', track)
            self.assertEqual(phase_events(self.browser), [])
            open_phase(self.browser, phase)
            events = phase_events(self.browser)
            self.assertGreater(len(events), 5 if track == 'CPU' else 0)
            self.assertTrue(any(name.startswith(event) for name, *_ in events))
            self.assertAlmostEqual(sum(share for _, share, *_ in events), 100, delta=1)
            mean = phases(self.browser)[phase]
            self.assertAlmostEqual(sum(time for _, _, time, *_ in events), mean, delta=mean / 50)
            self.assertTrue(all(count > 0 for *_, count, _ in events))
            self.assertRegex(events[0][-1], longest)
            open_phase(self.browser, phase)
            self.assertEqual(phase_events(self.browser), [])

    def test_phases_open_with_the_keyboard_and_stay_open_for_selected_steps(self):
        self.browser.open(self.folder / 'small/index.html')
        self.browser.run('document.querySelector("#phases .opener").focus()')
        state = lambda: self.browser.run('const button = document.activeElement; const list = document.getElementById('
                                         'button.getAttribute("aria-controls"));'
                                         'return [button.getAttribute("aria-expanded"), list.hidden]')
        self.assertEqual(state(), ['false', True])
        for key in ('Enter', 'Space'):
            self.browser.keys(key)
            self.assertEqual(state(), ['true', False])
            self.browser.keys(key)
            self.assertEqual(state(), ['false', True])
        open_phase(self.browser, 'backward')
        everything = phase_events(self.browser)
        self.browser.run('document.querySelector(".step-chart").focus()')
        self.browser.keys('Right', 'Shift+Right')  # steps 0 and 1: the warm-up
        selected = phase_events(self.browser)
        self.assertNotEqual([time for _, _, time, *_ in selected], [time for _, _, time, *_ in everything])
        mean = phases(self.browser)['backward']
        self.assertAlmostEqual(sum(time for _, _, time, *_ in selected), mean, delta=mean / 50)
        self.assertIn('of all steady steps', self.browser.text('#phases tr.events:not([hidden]) thead'))
        self.browser.run('document.querySelector(".step-chart").focus()')
        self.browser.keys('Escape')
        self.assertEqual(phase_events(self.browser), everything)

    def test_idle_time_of_an_h200_says_what_the_gpu_waited_for(self):
        self.browser.open(self.folder / 'h200_train/index.html')
        self.browser.run('[...document.querySelectorAll("#phases .choice label")].pop().click()')
        open_phase(self.browser, 'idle: CUDA calls')
        names = [name for name, *_ in phase_events(self.browser)]
        self.assertEqual(names[0], 'cudaLaunchKernel')
        self.assertIn('(launch on its way to the GPU)', names)
        self.assertRegex(self.browser.text('#phases tr.events:not([hidden]) .where'), '^after .+, before .+')

    def test_open_rows_make_the_page_no_wider_than_a_phone(self):
        self.browser.resize(360, 740)
        self.browser.open(self.folder / 'h200_train/index.html')
        self.browser.run('document.querySelector("#phases .choice label").click()')
        for name in ('forward', 'backward'):
            open_phase(self.browser, name)
        self.assertEqual(self.browser.run('return document.documentElement.scrollWidth'), 360)


if __name__ == '__main__':
    SAMPLE_REPORT = sys.argv.pop(1)
    BATCHLIGHT = sys.argv.pop(1)
    if webdriver.missing():
        print('skipped:', webdriver.missing())
        sys.exit(77)
    unittest.main()
