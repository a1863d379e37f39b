#!/usr/bin/env python3
"""The figures that the page shows in a real browser are those of `summary --json`, digit by digit.

Usage: figures_test.py SAMPLE_REPORT BATCHLIGHT [unittest arguments]. Exits with 77 (skipped) when the
machine has no browser."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import webdriver

BATCHLIGHT = ''
TESTS = pathlib.Path(__file__).resolve().parents[2] / 'tests'
INPUTS = [*(TESTS / 'recordings' / f'{name}.batchlight'
            for name in ('h200_train', 'h200_two_ranks', 'h200_tuned_gpt2', 'h200_compile')),
          TESTS / 'kineto/training.json']


def shown(text):
    """"1,284.5 µs" -> (value in ns, %, steps/s; what its last digit is worth)."""
    digits, unit = re.match(r'([\d,.]+)\s*(\S*)', text).groups()
    digits = digits.replace(',', '')
    factor = {'µs': 1e3, 'ms': 1e6, 's': 1e9, 'steps/min': 1 / 60}.get(unit, 1)
    return float(digits) * factor, factor * 10.0 ** -len(digits.partition('.')[2])


class Figures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix='bl-figures-')))
        for path in INPUTS:
            subprocess.run([BATCHLIGHT, 'report', '-o', cls.folder / path.stem, path], check=True,
                           stdout=subprocess.DEVNULL)
        cls.browser = cls.enterClassContext(webdriver.Browser())

    def same(self, text, value, what):
        number, digit = shown(text)
        self.assertLessEqual(abs(number - value), 0.5001 * digit + 1e-6 * abs(value), f'{what}: {text}, {value}')

    def stats(self, section):
        """{label: value}; of several ranks the first's."""
        pairs = self.browser.run(
            f'return [...document.querySelectorAll("{section} dl.stats > div")]'
            '.map(box => [box.children[0].innerText.trim(), box.children[1].innerText.trim()])')
        return dict(reversed(pairs))

    def rows(self, table):
        return self.browser.run(f'return [...document.querySelectorAll("{table}")]'
                                '.map(row => [...row.cells].map(cell => cell.innerText.trim()))')

    def test_the_page_shows_the_figures_of_the_analysis(self):
        for path in INPUTS:
            with self.subTest(path.stem):
                done = subprocess.run([BATCHLIGHT, 'summary', '--json', path], check=True, capture_output=True)
                self.compare(json.loads(done.stdout), path.stem)

    def compare(self, run, name):
        self.browser.open(self.folder / name / 'index.html')
        process = run['steps']['processes'][0]
        stats = self.stats('.hero')
        self.same(self.browser.text('.hero .big').replace('\n', ' '), process['duration']['median_ns'], 'median')
        self.same(stats['Rate'], process['steps_per_second'], 'rate')
        label = self.browser.text('.hero .label')
        self.assertEqual('rank' in label, len(run['steps']['processes']) > 1, label)
        self.browser.run('const track = document.querySelector("#phases .choice input"); if (track) track.click()')
        self.phases({phase['name']: (phase['share'], phase['time']['mean_ns']) for phase in process['phases']})
        for device in run.get('gpu', {}).get('devices', []):
            if device['pid'] != process['pid'] or not device['window']['count']:
                continue
            busy = f"GPU {device['device']} busy"
            self.same(stats[busy], 100 * device['busy_share'], busy)
            self.same(self.stats('#gpu')['GPU busy'], 100 * device['busy_share'], 'GPU busy')
        if run.get('gpu', {}).get('kernels'):
            self.top_kernel(max(run['gpu']['kernels'], key=lambda kernel: kernel['share']))
        self.flame(process['duration'])
        self.stages(run['lives'])

    def stages(self, lives):
        """Bar and table of each process's life; together they are the whole of it."""
        chosen = self.browser.run('return document.querySelectorAll("#stages .choice input").length')
        self.assertEqual(chosen, len(lives) + 1 if len(lives) > 1 else 0, 'each, and the mean of several')
        for index, life in enumerate(lives):
            self.browser.run(f'const choices = document.querySelectorAll("#stages .choice input");'
                             f'if (choices.length > 0) choices[{index}].click()')
            *rows, (last, whole, wall, *_) = self.rows('#stages table tbody tr, #stages table tfoot tr')
            self.assertEqual([row[0] for row in rows], [stage['stage'] for stage in life['stages']])
            for (label, share, total, number, each), stage in zip(rows, life['stages']):
                self.same(share, 100 * stage['share'], label)
                self.same(total, stage['total_ns'], label)
                self.assertEqual(number.replace(',', ''), str(stage['count']), label)
                self.same(each, stage['total_ns'] / stage['count'], label)
            self.assertEqual((last, whole), ('Run', '100.0 %'))
            self.same(wall, sum(stage['total_ns'] for stage in life['stages']), last)
            bar = self.browser.run('return [...document.querySelectorAll("#stages .stack > div")]'
                                   '.map(part => [part.title, parseFloat(part.style.flexGrow)])')
            self.assertEqual([title for title, _ in bar], [f'{label}: {total}' for label, _, total, *_ in rows])
            for (title, grow), stage in zip(bar, life['stages']):
                self.assertAlmostEqual(grow, 100 * stage['share'], delta=0.01, msg=title)

        if len(lives) > 1:
            self.browser.run('[...document.querySelectorAll("#stages .choice input")].pop().click()')
            for label, _, total, *_ in self.rows('#stages table tbody tr'):
                of_all = [stage['total_ns'] for life in lives for stage in life['stages'] if stage['stage'] == label]
                self.same(total, sum(of_all) / len(lives), f'mean of {label}')

    def phases(self, expected):
        for label, share, mean, *_ in self.rows('.breakdown tbody tr:not(.events, .events *)'):
            self.same(share, 100 * expected[label][0], label)
            self.same(mean, expected[label][1], label)

    def top_kernel(self, kernel):
        """Its share is in the list of GPU work, which has copies and graphs too."""
        self.browser.run('[...document.querySelectorAll("#top [role=tab]")]'
                         '.filter(tab => tab.innerText.trim() === "Kernels").forEach(tab => tab.click())')
        share = self.browser.run(
            'const table = [...document.querySelectorAll("#top .table table")]'
            '.find(table => table.querySelector("th").innerText.trim().startsWith("Kernel"));'
            'const heads = [...table.querySelectorAll("thead th")].map(head => head.innerText.trim());'
            'const row = [...table.querySelectorAll("tbody tr")].find(row => row.cells.length === heads.length'
            ' && ([...row.querySelectorAll("[title]")].some(cell => cell.title === arguments[0])'
            ' || row.cells[0].innerText.trim() === arguments[0]));'
            'return row && row.cells[heads.findIndex(head => head.startsWith("Of GPU"))].innerText.trim()',
            kernel['name'])
        self.assertTrue(share, kernel['name'])
        self.same(share, 100 * kernel['share'], kernel['name'])

    def flame(self, step):
        """The widest frames at the top add up to the step at most."""
        self.browser.run('const choice = document.querySelector("#tree .choice input"); if (choice) choice.click()')
        tops = self.browser.run('return [...document.querySelectorAll("#tree .frame")]'
                                '.filter(frame => frame.style.top === "0px").map(frame => frame.style.width)')
        self.assertLessEqual(sum(float(width.rstrip('%')) for width in tops), 100.1, step)


if __name__ == '__main__':
    sys.argv.pop(1)  # the sample report, which other tests of this folder need
    BATCHLIGHT = sys.argv.pop(1)
    if webdriver.missing():
        print('skipped:', webdriver.missing())
        sys.exit(77)
    unittest.main()
