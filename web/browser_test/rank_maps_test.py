#!/usr/bin/env python3
"""Heat maps of ranks on the report page and on that of `ranks --html`: what hovering and the arrow keys read, the
table for those who do not see them, many ranks on few lines, and a phone.

Usage: rank_maps_test.py BATCHLIGHT MAKE_RANKS [unittest arguments]. Exits with 77 (skipped) when the
machine has no browser."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import webdriver

BATCHLIGHT = MAKE_RANKS = ''
TWO_RANKS = pathlib.Path(__file__).resolve().parents[2] / 'tests/recordings/h200_two_ranks.batchlight'
RANKS = 300


class RankMaps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix='bl-maps-')))
        job = cls.folder / 'job'
        job.mkdir()
        for words in ([BATCHLIGHT, 'report', '-o', cls.folder / 'two', TWO_RANKS],
                      [MAKE_RANKS, job, str(RANKS), '40', '4'],
                      [BATCHLIGHT, 'ranks', '--grid', f'dp={RANKS // 4},tp=4', '--html', cls.folder / 'many.html',
                       job]):
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cls.browser = cls.enterClassContext(webdriver.Browser())

    def setUp(self):
        self.browser.prefer(color_scheme='light')
        self.browser.resize(1280, 900)

    def tearDown(self):
        self.assertEqual(self.browser.errors(), [])

    def tip(self):
        return self.browser.run('return document.querySelector(".heat-map .tip.shown")?.innerText ?? ""')

    def key(self, name):
        self.browser.run('document.activeElement.dispatchEvent(new KeyboardEvent("keydown", '
                         '{key: arguments[0], bubbles: true, cancelable: true}))', name)

    def test_two_ranks_on_the_report_page(self):
        self.browser.open(self.folder / 'two/index.html')
        self.assertEqual(self.browser.texts('#rank-maps h3'), ['By phase', 'By step, without what was lost waiting'])
        # The middle of the map's last place.
        self.browser.run('const map = document.querySelectorAll(".heat")[1], box = map.getBoundingClientRect();'
                         'map.dispatchEvent(new PointerEvent("pointermove", '
                         '{clientX: box.right - 8, clientY: box.bottom - 5}))')
        self.assertRegex(self.tip(), r'^rank 1\s+[-+]?\d+\.\d\d %\s+step 9\s+[\d.]+ .s (more|less) than')
        self.browser.run('document.querySelector(".heat-table").open = true')
        cells = ('return [...document.querySelectorAll(".heat-table tbody tr")]'
                 '.map(row => [...row.cells].map(cell => cell.innerText))')
        self.browser.wait_for('.heat-table tbody tr')
        rows = self.browser.run(cells)
        self.assertEqual([row[0] for row in rows], ['0', '1'])
        # Of two ranks the one in the middle is half way between them.
        for first, second in zip(rows[0][1:], rows[1][1:]):
            self.assertAlmostEqual(float(first.rstrip(' %')), -float(second.rstrip(' %')), delta=0.011)

    def test_many_ranks_share_lines(self):
        self.browser.open(self.folder / 'many.html')
        self.assertIn('300 ranks', self.browser.text('#waiting'))
        self.assertEqual(self.browser.run('return document.querySelectorAll("#rank-table tbody tr").length'), RANKS)
        self.browser.run('document.querySelectorAll(".heat")[1].focus()')
        for name in ('ArrowDown', 'ArrowDown', 'ArrowRight'):
            self.key(name)
        self.assertRegex(self.tip(), r'^rank [45] \(dp 1, tp [01]\)(?s:.*)step 1\b(?s:.*)most of ranks 4-5$')
        self.key('Escape')
        self.assertEqual(self.tip(), '')
        # Rank 21 of each 64 is slower in every step: its line has one box from end to end.
        boxes = self.browser.run('return [...document.querySelectorAll(".heat")[1].querySelectorAll("path")]'
                                 '.map(path => path.getAttribute("d")).join("")')
        self.assertIn('M0 10h40v1H0z', boxes)
        self.assertNotIn('M0 11h40v1H0z', boxes)

    def test_shades_differ_on_any_ground(self):
        for scheme in ('light', 'dark'):
            self.browser.prefer(color_scheme=scheme)
            self.browser.open(self.folder / 'many.html')
            colors = self.browser.run('return [...document.querySelectorAll("#rank-maps .chip")]'
                                      '.map(chip => getComputedStyle(chip).backgroundColor)')
            ground = self.browser.run('return getComputedStyle(document.querySelector(".heat")).backgroundColor')
            light = [sum(float(part) for part in re.findall(r'[\d.]+', color)[:3]) for color in [ground, *colors]]
            self.assertEqual(light, sorted(light, reverse=scheme == 'light'), scheme)

    def test_a_phone(self):
        self.browser.resize(400, 900)
        for page in ('many.html', 'two/index.html'):
            self.browser.open(self.folder / page)
            wide = self.browser.run('return [document.documentElement.scrollWidth, innerWidth]')
            self.assertLessEqual(wide[0], wide[1], page)


if __name__ == '__main__':
    BATCHLIGHT = sys.argv.pop(1)
    MAKE_RANKS = sys.argv.pop(1)
    if webdriver.missing():
        print('skipped:', webdriver.missing())
        sys.exit(77)
    unittest.main()
