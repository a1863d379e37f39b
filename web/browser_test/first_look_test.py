#!/usr/bin/env python3
"""What a reader sees before any click: the side that the headline is about, idle time that looks idle, no
word of what the run does not have, and on a phone the numbers beside the names.

Usage: first_look_test.py SAMPLE_REPORT BATCHLIGHT [unittest arguments]. Exits with 77 (skipped) when the
machine has no browser."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import webdriver

SAMPLE_REPORT = BATCHLIGHT = ''
RECORDINGS = pathlib.Path(__file__).resolve().parents[2] / 'tests/recordings'


class FirstLook(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix='bl-report-')))
        subprocess.run([SAMPLE_REPORT, cls.folder / 'small'], check=True)
        subprocess.run([SAMPLE_REPORT, cls.folder / 'gpu', '60', '40', 'gpu'], check=True)
        for name in ('h200_train', 'h200_tuned_gpt2'):
            subprocess.run([BATCHLIGHT, 'report', '-o', cls.folder / name, RECORDINGS / f'{name}.batchlight'],
                           check=True, stdout=subprocess.DEVNULL)
        cls.browser = cls.enterClassContext(webdriver.Browser())

    def setUp(self):
        self.browser.prefer(color_scheme='light')
        self.browser.resize(1280, 900)
        self.browser.open(self.folder / 'small/index.html')

    def tearDown(self):
        self.assertEqual(self.browser.errors(), [])

    def chosen(self, section):
        return self.browser.run('return document.querySelector(`#${arguments[0]} .choice input:checked`)'
                                '?.parentElement.innerText.trim() ?? ""', section)

    def test_what_the_headline_is_about_opens_first(self):
        self.assertEqual(self.chosen('phases'), '')  # CPU only: nothing to choose
        for page, track, clock, tab in (('h200_train', 'GPU 0', 'CPU time', 'Operators'),
                                        ('h200_tuned_gpt2', 'GPU 0', 'GPU time', 'Kernels')):
            self.browser.open(self.folder / page / 'index.html')
            self.assertRegex(self.browser.text('.verdict'), '^GPU 0 is ')
            self.assertEqual(self.chosen('phases'), track)
            self.assertEqual(self.chosen('tree'), clock)
            tabs = self.browser.texts('#top [role=tab]')
            if 'Operators' in tabs:
                self.assertEqual(tabs[0], tab)

    def test_idle_looks_like_idle(self):
        paleness = ('const chroma = (e) => { const [r, g, b] = getComputedStyle(e).backgroundColor.match(/[\\d.]+/g)'
                    '.slice(0, 3).map(Number); return Math.max(r, g, b) - Math.min(r, g, b); };'
                    'const unit = (e) => getComputedStyle(e).backgroundColor.startsWith("color(") ? 1 : 255;'
                    'return [...document.querySelectorAll("#phases .stack > div")].map('
                    'e => [e.title.startsWith("idle"), chroma(e) / unit(e), '
                    'getComputedStyle(e).backgroundImage !== "none"])')
        for scheme in ('light', 'dark'):
            self.browser.prefer(color_scheme=scheme)
            self.browser.open(self.folder / 'h200_train/index.html')
            parts = self.browser.run(paleness)
            self.assertTrue(any(idle for idle, *_ in parts))
            for idle, chroma, hatched in parts:
                self.assertEqual(hatched, idle)
                if idle:
                    self.assertLess(chroma, 0.25, parts)

    def test_a_run_without_a_gpu_is_not_told_of_one(self):
        words = self.browser.run('document.querySelectorAll("details:not(.table-box)").forEach(d => d.open = true);'
                                 'document.querySelector("#advice")?.remove(); return document.body.innerText')
        self.assertNotRegex(words, 'GPU|CUDA')
        self.assertEqual(self.browser.run('return document.querySelectorAll("#memory, #gpu, #distributed").length'), 0)

    def test_a_phone_shows_the_numbers_beside_the_names(self):
        for page in ('small', 'gpu', 'h200_tuned_gpt2'):
            self.browser.resize(390, 800)
            self.browser.open(self.folder / page / 'index.html')
            for table, least in (('#phases', 2), ('#tree', 2), ('#top', 2)):
                numbers = self.browser.run(
                    'const row = document.querySelector(`${arguments[0]} table tbody tr`);'
                    'return [...row.cells].slice(1).filter(c => { const {left, right, width} = c.getBoundingClientRect();'
                    'return width > 0 && right <= innerWidth && left > 0 && /[0-9]/.test(c.innerText); }).length', table)
                self.assertGreaterEqual(numbers, least, (page, table))


if __name__ == '__main__':
    SAMPLE_REPORT = sys.argv.pop(1)
    BATCHLIGHT = sys.argv.pop(1)
    if webdriver.missing():
        print('skipped:', webdriver.missing())
        sys.exit(77)
    unittest.main()
