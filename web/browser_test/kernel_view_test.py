#!/usr/bin/env python3
"""The report's view of one kernel in a real browser: what its counters and its samples say, put together.

Usage: kernel_view_test.py SAMPLE_REPORT BATCHLIGHT [unittest arguments]. Exits with 77 (skipped) when the machine has
no browser."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import webdriver

SAMPLE_REPORT = ''


class KernelView(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix='bl-kernels-')))
        subprocess.run([SAMPLE_REPORT, cls.folder / 'gpu', '60', '40', 'gpu'], check=True)
        subprocess.run([SAMPLE_REPORT, cls.folder / 'counters', '60', '40', 'gpu', 'counters'], check=True)
        cls.browser = cls.enterClassContext(webdriver.Browser())

    def setUp(self):
        self.browser.resize(1280, 900)
        self.browser.open(self.folder / 'counters/index.html')

    def tearDown(self):
        self.assertEqual(self.browser.errors(), [])

    def choose(self, part):
        """Shows the first kernel whose entry has that part of a text."""
        self.browser.run('const picker = document.querySelector("#kernels select");'
                         'picker.value = [...picker.options].find(o => o.text.includes(arguments[0])).value;'
                         'picker.dispatchEvent(new Event("change"))', part)
        return self.browser.text('#kernels .kernel')

    def test_a_kernel_with_counters_and_samples(self):
        text = self.choose('nvjet')
        for part in ('Bound by compute: compute 83.2 % (tensor pipe), memory 35.0 % (DRAM)', 'near what Tensor Cores',
                     'Speed of light', 'Tensor', 'DRAM Read', '31.5 MiB', 'What warps wait for', 'Long Scoreboard',
                     'Lines and instructions of kernels by samples', 'LDG.E R2', 'aten::', 'Clock GHz'):
            self.assertIn(part, text)
        self.assertNotIn('far', text)

    def test_a_kernel_with_counters_alone(self):
        text = self.choose('Gelu')
        self.assertIn('Bound by memory', text)
        self.assertIn('moves bytes as fast as memory can', text)
        self.assertNotIn('wait for', text)

    def test_a_kernel_with_samples_alone(self):
        text = self.choose('gather')
        self.assertIn('value = tl.load(table + place)  # <b>far</b> apart', self.browser.run(
            'return document.querySelector("#kernels .kernel").textContent'), 'a long text is two boxes')
        self.assertIn('kernels.py:15', text)
        self.assertNotIn('Bound by', text)
        bars = self.browser.run('return [...document.querySelectorAll("#kernels .kernel-parts td.share")].map('
                                'td => [parseFloat(td.style.getPropertyValue("--width")), parseFloat(td.textContent)])')
        self.assertEqual(len(bars), 3)
        for width, number in bars:
            self.assertAlmostEqual(width, number, delta=0.1)

    def test_it_fits_a_phone_and_shows_the_source_there_too(self):
        self.browser.resize(360, 740, scale=2)
        self.browser.open(self.folder / 'counters/index.html')
        self.assertIn('tl.load', self.choose('gather'))
        self.assertEqual(self.browser.run('return document.documentElement.scrollWidth'), 360)

    def test_a_run_without_counters_has_no_kernels_to_choose(self):
        self.browser.open(self.folder / 'gpu/index.html')
        self.assertEqual(self.browser.texts('#kernels'), [])


if __name__ == '__main__':
    SAMPLE_REPORT = sys.argv.pop(1)
    sys.argv.pop(1)
    if webdriver.missing():
        print('skipped:', webdriver.missing())
        sys.exit(77)
    unittest.main()
