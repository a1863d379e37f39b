#!/usr/bin/env python3
"""The report's roofline of kernels and of a step in a real browser: dots under roofs, read by pointer and keyboard,
and in words what is not in the picture. The counters are a stand-in's (report/files/sample_roofline.h).

Usage: roofline_test.py SAMPLE_REPORT BATCHLIGHT [unittest arguments]. Exits with 77 (skipped) when the machine has
no browser."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import webdriver

SAMPLE_REPORT = ''
CHART = '#kernels .roofline-chart'
TIP = '#kernels .roofline .tip.shown'


class Roofline(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix='bl-roofline-')))
        for counted in ('counters', 'roofline', 'step-roofline'):
            subprocess.run([SAMPLE_REPORT, cls.folder / counted, '60', '40', 'gpu', counted], check=True)
        cls.browser = cls.enterClassContext(webdriver.Browser())

    def setUp(self):
        self.browser.resize(1280, 900)
        self.open()

    def open(self):
        self.browser.open(self.folder / 'roofline/index.html')
        self.browser.wait_for(CHART + ' .dot')

    def tearDown(self):
        self.assertEqual(self.browser.errors(), [])

    def read(self, *keys):
        """What the keys read out, from the chart's first dot on."""
        self.browser.run('document.querySelector(arguments[0]).focus({focusVisible: true})', CHART)
        self.browser.keys(*keys)
        return self.browser.text(TIP)

    def test_dots_are_under_the_roofs(self):
        text = self.browser.run('return document.querySelector(arguments[0]).textContent', CHART)
        for roof in ('DRAM 4.80 TB/s', 'Tensor bf16 919 TFLOP/s', 'Tensor tf32 451 TFLOP/s', 'fp32 58.1 TFLOP/s'):
            self.assertIn(roof, text)
        dots, inside = self.browser.run('''
            const chart = document.querySelector(arguments[0]), box = chart.getBoundingClientRect();
            const roofs = [...chart.querySelectorAll(".roof")].map(roof => roof.getBBox().y);
            const dots = [...chart.querySelectorAll(".dot")].map(dot => dot.getBoundingClientRect());
            return [dots.length, dots.every(dot => dot.left >= box.left && dot.right <= box.right &&
                                                   dot.top + dot.height / 2 >= box.top + Math.min(...roofs))]''', CHART)
        self.assertGreaterEqual(dots, 8)
        self.assertTrue(inside)

    def test_the_keyboard_reads_kernels_by_falling_time_and_opens_one(self):
        first = self.read('Home')
        for part in ('1. sm90_xmma_gemm_f32f32', '43.5 % of time', '478', '391', '451', '86.6 %', 'peak of Tensor tf32'):
            self.assertIn(part, first)
        step = self.read('End')
        for part in ('Measured step', 'GPU 0', '173', '217', '30.6 %', 'L2'):
            self.assertIn(part, step)
        second = self.read('Home', 'Right')
        self.assertIn('at most', second)
        self.assertTrue(second.startswith('2. conv_depthwise2d'))
        self.browser.keys('Enter')
        self.assertIn('conv_depthwise2d', self.browser.text('#kernels .kernel h3'))
        self.assertEqual(self.browser.run('return document.activeElement.value'), '1')
        self.assertEqual(self.browser.run('return document.querySelector(arguments[0])', TIP), None, 'it lost the focus')
        self.read('Home')
        self.browser.keys('Escape')
        self.assertEqual(self.browser.run('return document.querySelector(arguments[0])', TIP), None)

    def test_the_pointer_reads_the_nearest_dot_and_a_click_opens_it(self):
        x, y = self.browser.run('''
            const dot = document.querySelector(arguments[0] + " .dot.by-triangle:not(.at-most)");
            dot.scrollIntoView({block: "center", behavior: "instant"});
            const box = dot.getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2]''', CHART)
        self.browser.click_at(x + 4, y + 4)
        name = self.browser.text('#kernels .kernel h3')
        self.assertIn('flash_fwd_splitkv', name)
        part = self.browser.text('#kernels .kernel')
        for words in ('44 operations for a byte of DRAM and would need 187 to come to the peak of Tensor bf16',
                      'TFLOP/s', 'Attainable', '53.6 %'):
            self.assertIn(words, part)

    def test_what_is_not_in_the_picture_is_told(self):
        words = self.browser.texts('#kernels .roofline-words li')
        self.assertEqual(len(words), 4)
        self.assertIn('2 kernels without operations, they move bytes', words[0])
        self.assertIn('CatArrayBatchedCopy', words[0])
        self.assertIn('88 % of DRAM', words[0])
        self.assertIn('1 kernel with operations, but without a byte of DRAM', words[1])
        self.assertIn('1 kernel whose operations were not counted', words[2])
        self.assertIn('1.62 to 1.72 GHz', words[3])

    def test_other_levels_of_memory(self):
        self.browser.run('document.querySelectorAll("#kernels .roofline .choice input")[1].click()')
        self.browser.wait_for(CHART + ' .dot')
        text = self.browser.run('return document.querySelector(arguments[0]).textContent', CHART)
        self.assertIn('L2 8.70 TB/s', text)
        self.assertIn('operations a byte of L2', text)
        self.assertEqual([words for words in self.browser.texts('#kernels .roofline-words li') if 'without a byte' in words], [])

    def test_the_table_has_all_of_it_on_a_phone_too(self):
        self.browser.resize(375, 800)
        self.open()
        self.browser.run('document.querySelector("#kernels .roofline details").open = true')
        self.browser.wait_for('#kernels .roofline table')
        table = self.browser.text('#kernels .roofline details')
        for part in ('Attainable', 'CatArrayBatchedCopy', 'indexSelectSmallIndex'):
            self.assertIn(part, table)

    def test_signs_differ_by_shape_and_text_is_readable(self):
        kinds = self.browser.run('return [...document.querySelectorAll("#kernels .roofline .legend path")]'
                                 '.map(path => [path.getAttribute("class"), path.getAttribute("d")])')
        self.assertEqual(len({d for _, d in kinds if d}), len({kind.split()[1] for kind, _ in kinds}))
        for scheme in ('light', 'dark'):
            self.browser.prefer(color_scheme=scheme)
            ratio = self.browser.run('''
                const light = text => { const [r, g, b] = text.match(/[\\d.]+/g).slice(0, 3).map(
                    value => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
                    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
                const text = document.querySelector(arguments[0] + " .roofs text");
                const [a, b] = [light(getComputedStyle(text).fill), light(getComputedStyle(text).stroke)].sort((a, b) => a - b);
                return (b + 0.05) / (a + 0.05)''', CHART)
            self.assertGreater(ratio, 4.5, scheme)
        self.browser.prefer(color_scheme='light')

    def test_it_fits_any_width(self):
        for width in (375, 800, 1600):
            self.browser.resize(width, 900)
            self.open()
            self.assertEqual(self.browser.run('return document.documentElement.scrollWidth'), width)
            for key in ('Home', 'End'):
                self.read(key)
                left, right = self.browser.run('const box = document.querySelector(arguments[0]).getBoundingClientRect();'
                                               'return [box.left, box.right]', TIP)
                self.assertGreaterEqual(left, 0)
                self.assertLessEqual(right, width)
            labels = self.browser.run('return [...document.querySelectorAll(arguments[0] + " .axis text")]'
                                      '.filter(text => text.getAttribute("text-anchor") == "middle").slice(0, -1)'
                                      '.map(text => { const box = text.getBoundingClientRect(); return [box.left, box.right] })', CHART)
            for (_, right), (left, _) in zip(labels, labels[1:]):
                self.assertLess(right, left, 'numbers of the axis lie over each other')

    def test_a_step_alone(self):
        self.browser.open(self.folder / 'step-roofline/index.html')
        self.browser.wait_for(CHART + ' .dot')
        self.assertEqual(self.browser.text('#kernels h2'), 'How near the step is to its roofs')
        self.assertIn('Measured step', self.read('Home'))
        self.assertEqual(len(self.browser.texts(CHART + ' .dot')), 1)
        self.assertEqual(self.browser.texts('#kernels select'), [])
        self.browser.keys('Enter')

    def test_without_counted_operations_there_is_no_roofline(self):
        self.browser.open(self.folder / 'counters/index.html')
        self.assertEqual(self.browser.texts('#kernels .roofline'), [])


if __name__ == '__main__':
    SAMPLE_REPORT = sys.argv.pop(1)
    sys.argv.pop(1)
    if webdriver.missing():
        print('skipped:', webdriver.missing())
        sys.exit(77)
    unittest.main()
