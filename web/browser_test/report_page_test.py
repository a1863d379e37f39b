#!/usr/bin/env python3
"""The report page in a real browser: opens from disk, computes, sorts, filters, fits a phone, and
takes nothing in a recording for markup.

Usage: report_page_test.py SAMPLE_REPORT BATCHLIGHT [unittest arguments]. Exits with 77 (skipped) when the
machine has no browser."""
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import page_text
import webdriver
from page_text import phases

SAMPLE_REPORT = BATCHLIGHT = ''
RECORDINGS = pathlib.Path(__file__).resolve().parents[2] / 'tests/recordings'
LARGE = (2000, 500)  # steps, operators in each: a million events


def column(browser, table, index):
    return browser.run('return [...document.querySelectorAll(arguments[0])].map(r => r.cells[arguments[1]].textContent)',
                       f'#table-{table} tbody tr', index)


class ReportPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix='bl-report-')))
        subprocess.run([SAMPLE_REPORT, cls.folder / 'small'], check=True)
        subprocess.run([SAMPLE_REPORT, cls.folder / 'large', *map(str, LARGE)], check=True)
        subprocess.run([SAMPLE_REPORT, cls.folder / 'empty', '0'], check=True)
        subprocess.run([SAMPLE_REPORT, cls.folder / 'gpu', '60', '40', 'gpu'], check=True)
        for name in ('h200_train', 'h200_compile', 'h200_graph_node', 'h200_two_ranks'):
            cls.report(name, name)
        for rank in ('0', '1'):
            cls.report('h200_two_ranks', f'rank_{rank}', '--rank', rank)
        cls.browser = cls.enterClassContext(webdriver.Browser())

    @classmethod
    def report(cls, recording, folder, *options):
        subprocess.run([BATCHLIGHT, 'report', *options, '-o', cls.folder / folder, RECORDINGS / f'{recording}.batchlight'],
                       check=True, stdout=subprocess.DEVNULL)

    def setUp(self):
        self.browser.prefer(color_scheme='light')
        self.browser.resize(1280, 900)
        self.browser.open(self.folder / 'small/index.html')
        self.browser.run('localStorage.clear()')
        self.browser.open(self.folder / 'small/index.html')

    def tearDown(self):
        self.assertEqual(self.browser.errors(), [])

    def open_table(self, name):
        self.browser.click(f'#table-{name} summary')
        self.browser.wait_for(f'#table-{name} td')

    def test_says_how_long_a_step_takes_and_what_it_is_made_of(self):
        self.assertRegex(self.browser.text('.big'), r'^23\.\d\s*ms$')
        self.assertRegex(self.browser.text('.verdict'), r'^5\d\.\d % of the mean step is backward\.$')
        times = phases(self.browser)
        step = times.pop('Step')
        self.assertGreater(len(times), 4)
        self.assertAlmostEqual(sum(times.values()), step, delta=0.2)
        ring = self.browser.run(
            'return [...document.querySelectorAll(".donut circle")].map((slice) => [parseFloat('
            'slice.getAttribute("stroke-dasharray")), -slice.getAttribute("stroke-dashoffset")])')
        self.assertEqual(len(ring), len(times))
        for (length, start), (_, then) in zip(ring, ring[1:] + [[0, 100]]):
            self.assertAlmostEqual(start + length, then, delta=0.5)  # no hole, no overlap

    def test_advice_has_gain_and_evidence(self):
        self.browser.open(self.folder / 'gpu/index.html')
        gains = self.browser.texts('#advice .gain')
        title = self.browser.text('#advice h3')
        self.assertIn(f'Change first: {title}', self.browser.text('.hero'))
        self.assertRegex(gains[0], r'^about [\d.]+ .?s a step \(± .*\), [\d.]+ % of it$')
        self.browser.run('document.querySelector("#advice .finding details").open = true')
        self.assertIn('rule ', self.browser.text('#advice .finding details'))

    def test_tables_of_the_tree_and_of_operators_fit_a_screen(self):
        self.browser.resize(1280, 900)
        self.browser.open(self.folder / 'h200_train/index.html')
        for table in ('#tree', '#top'):
            inner, outer = self.browser.run(
                'const table = document.querySelector(`${arguments[0]} table`);'
                'return [table.offsetWidth, table.parentElement.clientWidth]', table)
            self.assertLessEqual(inner, outer, table)

    def test_findings_that_gain_the_same_time_say_so(self):
        self.browser.open(self.folder / 'h200_two_ranks/index.html')
        texts = [text for text in self.browser.texts('#advice .finding') if 'a step' in text]
        shared = [text for text in texts if 'the same time as' in text]
        self.assertNotIn('the same time as', texts[0])
        self.assertTrue(shared)
        for text in shared:
            named = re.search('the same time as: (.*)', text)[1].split(', ')[0].split('; ')[0]
            self.assertTrue(any(earlier.startswith(named) for earlier in texts[:texts.index(text)]), text)

    def test_gpu_numbers_have_formulas_and_memory_a_chart(self):
        self.browser.open(self.folder / 'gpu/index.html')
        self.assertIn('time with any work / time of the steps on the GPU', self.browser.text('#gpu'))
        self.assertIn('memory, GiB', self.browser.run('return document.querySelector("#memory .stair-chart").textContent'))
        self.browser.hover('#memory .stair-chart', 0.8)
        self.assertRegex(self.browser.text('#memory .tip'), r'^[\d.,]+ [KMG]iB\nsince')

    def test_memory_has_categories_with_their_rules_and_what_held_the_peak(self):
        self.browser.open(self.folder / 'gpu/index.html')
        table = self.browser.text('#memory .categories')
        self.assertIn('activations', table)
        self.assertIn('allocated in forward, loss or a module', table)
        self.browser.click('#memory details summary')
        self.assertIn('encoder.layers', self.browser.text('#memory details'))

    def test_launch_queue_can_be_read_with_the_keyboard(self):
        self.browser.open(self.folder / 'gpu/index.html')
        text = self.browser.text('#gpu .queue')
        for part in ('Launch to start, median', 'begin of the launching call', 'Queue empty', 'Mean depth'):
            self.assertIn(part, text)
        self.browser.run('document.querySelector("#gpu .stair-chart").focus()')
        self.browser.keys('Right', 'Right')
        self.assertRegex(self.browser.text('#gpu .tip'), r'^\d+ waiting\nsince')

    def test_ranks_and_collectives_of_an_h200_job(self):
        self.browser.open(self.folder / 'h200_two_ranks/index.html')
        text = self.browser.text('#distributed')
        self.assertIn('AllReduce', text)
        self.assertIn('2(n−1)/n', text)
        self.assertIn('means over the steps that count, mean of 2 ranks.', self.browser.text('#tree .lead'))
        self.assertEqual(len(self.browser.texts('#distributed .rank')), 2)
        bandwidth = self.browser.run('''
          const table = [...document.querySelectorAll("#distributed table")].pop();
          const at = [...table.tHead.rows[0].cells].findIndex(cell => cell.innerText.includes("Bus GB/s"));
          return table.tBodies[0].rows[0].cells[at].innerText''')
        self.assertAlmostEqual(float(bandwidth), 37.3, delta=0.1)

    def pick_rank(self, name, section='tree'):
        self.browser.run('const picker = document.querySelector(`#${arguments[1]} .rank-picker select`);'
                         'picker.value = [...picker.options].find(o => o.text === arguments[0]).value;'
                         'picker.dispatchEvent(new Event("change"))', name, section)

    def tree_and_kernels(self):
        """What the flame graph, the tree down to the kernels and the table of kernels show, bars included; not the way
        to the longest calls, which are of all ranks."""
        self.browser.click('#tree .table-tools button:nth-of-type(2)')
        self.browser.run('document.querySelectorAll("#tree .choice input")[1].click()')
        return (self.browser.run('return [...document.querySelectorAll(".frame")].map(f => [f.title, f.getAttribute("style")])'),
                self.browser.run('const rows = document.querySelector("#tree tbody").cloneNode(true);'
                                 'for (const link of rows.querySelectorAll(".to-timeline")) link.remove(); return rows.innerHTML'),
                self.browser.texts('#tree thead th'),
                self.browser.run('return document.querySelector("#top .table tbody").innerHTML'))

    def select_steps(self, first, last):
        self.browser.run('const [from, to] = document.querySelectorAll(".range-form input");'
                         '[from.value, to.value] = arguments; to.dispatchEvent(new Event("change"))', first, last)

    def test_a_rank_has_the_numbers_of_its_own_page(self):
        shown = {}
        for steps in (None, (2, 4)):
            for page in ('h200_two_ranks', 'rank_0', 'rank_1'):
                self.browser.open(self.folder / page / 'index.html')
                if steps:
                    self.select_steps(*steps)
                self.assertEqual(self.browser.texts('.rank-picker option'),
                                 2 * ['All ranks (mean)', 'rank 0', 'rank 1'] if page == 'h200_two_ranks' else [])
                shown[page, steps] = self.tree_and_kernels()
            self.browser.open(self.folder / 'h200_two_ranks/index.html')
            if steps:
                self.select_steps(*steps)
            for rank in '01':
                self.pick_rank(f'rank {rank}')
                self.assertEqual(self.browser.texts('#tree mark'), [f'steps {a}–{b}' for a, b in filter(None, [steps])] + [f'rank {rank}'])
                self.assertEqual(self.browser.texts('#top mark'), self.browser.texts('#tree mark'))
                self.assertEqual(self.tree_and_kernels(), shown[f'rank_{rank}', steps])
            self.pick_rank('All ranks (mean)', 'top')
            self.assertEqual(self.tree_and_kernels(), shown['h200_two_ranks', steps])
        for a, b in itertools.combinations(shown.values(), 2):
            self.assertNotEqual(a, b)

    def test_a_rank_has_the_numbers_of_the_tables(self):
        self.browser.open(self.folder / 'h200_two_ranks/index.html')
        self.pick_rank('rank 1', 'top')
        shown = dict(self.browser.run(
            'return [...document.querySelectorAll("#top tr.opens")].map(row => [row.querySelector(".name").title, '
            'row.cells[3].textContent])'))  # in µs
        rows = json.loads(subprocess.run([BATCHLIGHT, 'table', 'kernels', '--rank', '1', '-f', 'json',
                                          RECORDINGS / 'h200_two_ranks.batchlight'],
                                         check=True, capture_output=True).stdout)
        expected = {row['Kernel']: row['Time per Step (ns)'] / 1000 for row in rows if row['Time per Step (ns)'] > 0}
        both = shown.keys() & expected.keys()  # the page shows ten, one of which has too long a name
        self.assertGreaterEqual(len(both), 8)
        for name in both:
            self.assertAlmostEqual(float(shown[name]), expected[name], delta=0.0051, msg=name)

    def test_the_rank_picker_is_used_with_the_keyboard(self):
        self.browser.open(self.folder / 'h200_two_ranks/index.html')
        self.browser.run('document.querySelector("#top .rank-picker select").focus()')
        before = self.browser.text('#top tbody')
        self.browser.keys('Down')
        self.assertEqual(self.browser.texts('#top mark'), ['rank 0'])
        self.assertEqual(self.browser.run('return document.activeElement.value'), '0')  # the focus stays
        self.assertEqual(self.browser.run('return document.querySelector("#tree select").value'), '0')
        self.assertNotEqual(self.browser.text('#top tbody'), before)

    def test_picking_a_process_above_picks_its_rank_and_drops_the_steps(self):
        self.browser.open(self.folder / 'h200_two_ranks/index.html')
        self.select_steps(2, 4)
        self.browser.run('const picker = document.querySelector("#overview select");'
                         'picker.value = 1; picker.dispatchEvent(new Event("change"))')
        self.assertEqual(self.browser.texts('#tree mark'), ['rank 1'])

    def test_recordings_of_an_h200_show_their_kernels(self):
        for name in ('h200_train', 'h200_compile', 'h200_graph_node'):
            self.browser.open(self.folder / name / 'index.html')
            self.assertEqual(self.browser.errors(), [], name)
            self.assertIn('Kernel', self.browser.text('#top .table thead'))
            self.assertIn('GPU fwd', self.browser.text('#tree thead'))

    def test_gpu_is_a_track_of_the_same_steps(self):
        self.browser.open(self.folder / 'gpu/index.html')
        self.assertEqual(self.browser.texts('.choice label')[:2], ['CPU', 'GPU 0'])
        self.browser.run('document.querySelectorAll("#phases .choice input")[1].click()')
        times = phases(self.browser)
        step = times.pop('Step')
        self.assertIn('Tensor Cores', times)
        self.assertAlmostEqual(sum(times.values()), step, delta=0.3)
        self.assertIn('GPU 0 busy', self.browser.text('.stats'))

    def test_loss_is_shown_before_everything_else(self):
        first = self.browser.run('return document.querySelector("main").children[1].className')
        self.assertIn('loss', first)
        self.assertIn('12,345 events dropped', self.browser.text('.banner.loss'))

    def test_a_million_events_open_in_a_second(self):
        size = (self.folder / 'large/index.html').stat().st_size
        self.assertLess(size, 10_000_000)  # with its timeline
        def load_ms():
            self.browser.open(self.folder / 'large/index.html')
            return self.browser.run('return performance.getEntriesByType("navigation")[0].loadEventEnd')
        # The best of some: other work on the machine is not the page's.
        times = []
        while len(times) < 3 or (min(times) >= 1000 and len(times) < 30):
            times.append(load_ms())
        self.assertGreater(min(times), 0)
        self.assertLess(min(times), 1000)
        self.assertIn('1,0', self.browser.text('.chips'))  # 1,0xx,xxx events

    def test_names_from_the_recording_are_text(self):
        self.assertEqual(self.browser.run('return document.title'), 'train.py - batchlight')
        self.assertEqual(self.browser.run('return document.images.length'), 0)
        self.assertEqual(self.browser.run('return document.scripts.length'), 0)  # the page has replaced its own
        self.open_table('operators')
        names = column(self.browser, 'operators', 0)
        self.assertIn("</script><script>document.title='broken out'</script>", names)
        self.assertIn('<img src=x onerror="document.title=\'broken out\'">', names)

    def test_copying_gives_whole_names(self):
        self.open_table('operators')
        copied = self.browser.run('''
          getSelection().selectAllChildren(document.querySelector("#table-operators tbody"));
          const event = new ClipboardEvent("copy", {clipboardData: new DataTransfer()});
          document.dispatchEvent(event);
          return event.clipboardData.getData("text/plain")''')
        self.assertIn('const::{lambda(int)#1}::tail_end', copied)

    def test_brushing_steps_computes_again_for_them(self):
        before = self.browser.text('.big')
        self.browser.drag('.step-chart', 0.04, 0.065)  # the warm-up steps
        self.assertRegex(self.browser.text('.scope mark'), r'^steps? \d')
        self.assertNotEqual(self.browser.text('.big'), before)
        times = phases(self.browser)
        step = times.pop('Step')
        self.assertGreater(step, 40)
        self.assertAlmostEqual(sum(times.values()), step, delta=step / 100)
        self.browser.click('.scope button')
        self.assertEqual(self.browser.text('.big'), before)

    def select(self, first, last):
        self.browser.run('const [from, to] = document.querySelectorAll(".range-form input");'
                         'from.value = arguments[0]; to.value = arguments[1]; to.dispatchEvent(new Event("change"))',
                         first, last)

    def gpu_numbers(self):
        return self.browser.run('return [...document.querySelectorAll("#gpu dl.stats > div")]'
                                '.map(box => [box.children[0].innerText, box.children[1].innerText])')

    def test_brushing_steps_computes_the_gpu_again(self):
        self.browser.open(self.folder / 'gpu/index.html')
        def section():
            self.browser.wait_for('#gpu .stair-chart .line')
            return self.browser.text('#gpu'), self.browser.run('return document.querySelector("#gpu .stair-chart").innerHTML')
        everything = section()
        self.assertIn('Over the steps that count.', everything[0])
        self.assertIn('a step of median length', self.browser.text('#gpu .curve-of'))
        before = dict(self.gpu_numbers())
        self.browser.drag('.step-chart', 0.04, 0.065)  # the warm-up steps: eight times as long
        after = dict(self.gpu_numbers())
        self.assertEqual(self.browser.text('#gpu mark'), self.browser.text('.scope mark'))
        self.assertEqual(before.keys(), after.keys())
        for name in ('GPU busy', 'Queue empty', 'Mean depth'):
            self.assertNotEqual(before[name], after[name], name)
        self.assertIn('within 7 %', self.browser.text('#gpu .queue'))
        self.assertIn('their median', self.browser.text('#gpu .curve-of'))
        self.assertIn('of the whole run', self.browser.text('#tables > p:nth-of-type(2)'))
        self.browser.click('.scope button')
        self.assertEqual(section(), everything)
        self.assertEqual(self.browser.texts('#tables mark'), [])

    def test_selecting_all_steps_gives_the_numbers_of_the_analysis(self):
        exact = lambda: {name: value for name, value in self.gpu_numbers() if not name.startswith('Launch to start')}
        for page in ('gpu', 'h200_train', 'h200_two_ranks'):
            self.browser.open(self.folder / page / 'index.html')
            whole, latencies = exact(), [value for name, value in self.gpu_numbers() if name.startswith('Launch to start')]
            numbers = self.browser.run('return [...document.querySelectorAll(".range-form input")].map(i => i.value)')
            self.select(*numbers)
            self.assertEqual(len(self.browser.texts('#gpu mark')), 1)
            self.assertEqual(exact(), whole, page)
            scale = {'ns': 1, 'µs': 1e3, 'ms': 1e6, 's': 1e9}
            ns = lambda text: float(text.split()[0].replace(',', '')) * scale[text.split()[1]]
            for name, value in self.gpu_numbers():
                if name.startswith('Launch to start'):
                    self.assertAlmostEqual(ns(value) / ns(latencies.pop(0)), 1, delta=0.07)

    def test_one_step_of_many_has_its_launch_queue(self):
        self.browser.open(self.folder / 'gpu/index.html')
        self.select(37, 37)
        self.assertEqual(self.browser.text('#gpu .curve-of'), 'Step 37: the one that is selected.')

    def test_selecting_steps_computes_ranks_and_collectives_again(self):
        self.browser.open(self.folder / 'h200_two_ranks/index.html')
        read = lambda: (self.browser.texts('#distributed tbody td'), self.browser.texts('#distributed mark'))
        bars = lambda: self.browser.run('return [...document.querySelectorAll("#distributed .rank-bar")].map(b => b.ariaLabel)')
        everything, whole_bars = read(), bars()
        self.select(5, 6)
        cells, marks = read()
        self.assertEqual(marks, ['steps 5–6'] * 2)
        self.assertNotEqual(cells[:20], everything[0][:20])  # two ranks
        self.assertNotEqual(bars(), whole_bars)
        # One all-reduce per step and rank; the operations of the start are in no step.
        self.assertEqual(cells[20].strip(), 'AllReduce')
        self.assertEqual(cells[24:26], ['4', '1.00'])
        self.assertEqual(len(cells), 32)
        self.assertIn('In these steps', self.browser.run('return document.querySelector("#distributed").textContent'))
        self.browser.click('.scope button')
        self.assertEqual((read(), bars()), (everything, whole_bars))

    def test_selecting_steps_shows_their_memory(self):
        self.browser.open(self.folder / 'gpu/index.html')
        words = lambda: self.browser.text('#memory .memory p')
        whole = words()
        self.assertNotIn('in these steps', whole)
        self.select(20, 24)
        self.assertRegex(words(), r'^Peak [\d.]+ MiB in these steps, at \d+ ms, 100 allocations')
        self.browser.wait_for('#memory .stair-chart .line')
        self.assertIn('since the first of these steps', self.browser.run('return document.querySelector("#memory .stair-chart").textContent'))
        self.assertIn('peak of the whole run', self.browser.text('#memory details'))
        self.browser.run('document.querySelectorAll("#memory .choice input")[1].click()')
        self.browser.wait_for('#memory .selection .outline')
        left, width, plot = self.browser.run(
            'const box = document.querySelector("#memory .selection .outline").getBBox();'
            'return [box.x, box.width, document.querySelector("#memory .stair-chart").clientWidth]')
        self.assertGreater(left, 0.2 * plot)
        self.assertGreater(width, 0.02 * plot)
        self.assertLess(left + width, 0.6 * plot)
        self.browser.click('.scope button')
        self.assertEqual(words(), whole)

    def test_steps_can_be_selected_by_number(self):
        self.select(30, 30)
        self.assertEqual(self.browser.text('.scope mark'), 'step 30')
        self.assertRegex(self.browser.text('.verdict'), 'data loading')  # its DataLoader took 30 ms

    def test_keyboard_reads_and_selects_steps(self):
        self.browser.run('document.querySelector(".step-chart").focus()')
        self.browser.keys('Right', 'Right', 'Right')
        self.assertIn('Step 2', self.browser.text('.tip'))
        self.browser.keys('Shift+Right', 'Shift+Right')
        self.assertEqual(self.browser.text('.scope mark'), 'steps 2–4')
        self.browser.keys('Escape')
        self.assertEqual(self.browser.texts('.scope mark'), [])

    def test_hovering_a_step_shows_its_phases(self):
        self.browser.hover('.step-chart', 0.7)
        tip = self.browser.text('.tip')
        self.assertRegex(tip, r'Step \d+')
        self.assertIn('backward', tip)
        self.assertIn('ms', tip)

    def test_tables_sort_both_ways(self):
        self.open_table('operators')
        header = '#table-operators th:nth-child(3) button'
        numbers = lambda: [float(text.lstrip('<').replace(',', '')) for text in column(self.browser, 'operators', 2)]
        self.browser.click(header)
        self.assertEqual(numbers(), sorted(numbers(), reverse=True))
        self.browser.click(header)
        self.assertEqual(numbers(), sorted(numbers()))
        self.assertGreater(numbers()[-1], numbers()[0])
        order = self.browser.run('return document.querySelector(arguments[0]).ariaSort', '#table-operators th:nth-child(3)')
        self.assertEqual(order, 'ascending')

    def test_tables_filter(self):
        self.open_table('operators')
        everything = len(column(self.browser, 'operators', 0))
        self.browser.type('#table-operators input', 'ATEN add')
        self.assertEqual(sorted(column(self.browser, 'operators', 0)), ['aten::add_', 'aten::addmm'])
        self.assertGreater(everything, 2)

    def test_operators_lead_to_their_table(self):
        self.browser.click('#top-panel-0 > div > p a')
        self.browser.wait_for('#table-operators td')
        self.assertTrue(self.browser.run('return document.querySelector("#table-operators").open'))

    def test_an_operator_opens_to_its_kernels_and_modules(self):
        self.browser.open(self.folder / 'gpu/index.html')
        rows = lambda: self.browser.texts('#top-panel-0 tr.opens td:first-child')
        name = rows()[0].strip()
        self.browser.click('#top-panel-0 tr.opens .twist')
        details = self.browser.text('#top-panel-0 tr.details')
        self.assertIn('Kernels and copies it launches', details)
        self.assertIn('Called in', details)
        self.assertRegex(details, r'encoder\.layers\.\d')
        self.assertIn('stream 7', details)
        self.browser.click('#top-panel-0 .column-name')  # sorting keeps the row open
        self.assertEqual(len(self.browser.texts('#top-panel-0 tr.details')), 1 if name in [r.strip() for r in rows()] else 0)
        self.browser.run('document.querySelector("#top-panel-0 input").value = ""')
        self.browser.type('#top-panel-0 input', name)
        self.browser.click('#top-panel-0 tr.opens .twist')
        self.assertEqual(self.browser.texts('#top-panel-0 tr.details'), [])

    def test_a_kernel_opens_to_the_operators_that_launch_it(self):
        self.browser.open(self.folder / 'gpu/index.html')
        self.browser.click('#top-tab-1')
        self.browser.click('#top-panel-1 tr.opens .twist')
        details = self.browser.text('#top-panel-1 tr.details')
        self.assertIn('Launched by operators', details)
        self.assertIn('aten::', details)
        self.assertIn('Launched in', details)

    def test_selecting_steps_computes_operators_and_modules_again(self):
        self.browser.open(self.folder / 'gpu/index.html')
        read = lambda: (self.browser.texts('#top-panel-0 tr.opens td:nth-child(3)'),
                        self.browser.texts('#tree tbody td:nth-child(2)'),
                        self.browser.run('return [...document.querySelectorAll(".frame")].map(f => f.title)'))
        everything = read()
        self.browser.run('document.querySelector(".step-chart").focus()')
        self.browser.keys('Right', 'Shift+Right')  # steps 0 and 1: the warm-up
        first = read()
        for before, after in zip(everything, first):
            self.assertNotEqual(before, after)
        self.assertEqual(self.browser.texts('#tree mark'), ['steps 0–1'])
        self.assertEqual(self.browser.texts('#top mark'), ['steps 0–1'])
        cell = lambda header: float(self.browser.run(
            'const at = [...document.querySelectorAll("#tree thead th")].findIndex(h => h.innerText.startsWith(arguments[0]));'
            'return document.querySelector("#tree tbody tr").cells[at].innerText', header).split()[0])
        mean = float(re.search(r'mean step ([\d.]+) ms', self.browser.text('.stats'))[1])  # of these steps
        self.assertAlmostEqual(cell('Of step'), 100 * cell('CPU bwd') / mean, delta=0.5)
        self.browser.run('document.querySelector(".step-chart").focus()')
        self.browser.keys('Escape')
        self.assertEqual(read(), everything)

    def test_an_unusually_long_step_is_explained(self):
        text = self.browser.text('.outliers li')
        self.assertRegex(text, r'^Step 30 took 5\d\.\d ms, 29\.\d ms above the median: data loading \+29')
        self.browser.click('.outliers button')
        self.assertEqual(self.browser.text('.scope mark'), 'step 30')

    def test_long_tables_grow_on_demand(self):
        self.browser.open(self.folder / 'large/index.html')
        self.open_table('steps')
        self.assertEqual(len(column(self.browser, 'steps', 0)), 50)
        self.browser.click('#table-steps .table-footer button')
        self.assertGreater(len(column(self.browser, 'steps', 0)), 500)

    def test_tree_opens_closes_and_filters(self):
        rows = lambda: len(self.browser.texts('#tree tbody tr'))
        opened = rows()
        self.browser.click('#tree tbody tr[aria-expanded] .twist')
        self.assertLess(rows(), opened)
        self.browser.click('#tree tbody tr[aria-expanded] .twist')
        self.assertEqual(rows(), opened)
        names = lambda: [text.split()[0] for text in self.browser.texts('#tree tbody th')]
        self.browser.type('#tree input', 'layers.1.linear1')
        self.assertEqual(names(), ['TinyTransformer', 'encoder.layers.1', 'linear1'])

    def test_tree_goes_down_to_kernels(self):
        self.browser.open(self.folder / 'gpu/index.html')
        self.assertIn('GPU fwd', self.browser.text('#tree thead'))
        self.browser.click('#tree .table-tools button:nth-of-type(3)')
        levels = self.browser.run('return [...document.querySelectorAll("#tree tbody tr")].map(r => r.ariaLevel)')
        self.assertGreater(max(map(int, levels)), 3)
        self.assertIn('GeluCUDAKernelImpl', self.browser.text('#tree tbody'))
        self.browser.run('document.querySelectorAll("#tree .choice input")[1].click()')
        self.assertIn('GPU time', self.browser.run('return document.querySelector(".flame").ariaLabel'))

    def test_flame_graph_zooms_in_and_out(self):
        frames = lambda: self.browser.run('return [...document.querySelectorAll(".frame")].map(f => f.title.split("\\n")[0])')
        whole = frames()
        self.assertIn('encoder.layers.1.linear1', whole)
        self.browser.click('.frame[title^="encoder.layers.1\\a "]')
        zoomed = frames()
        self.assertEqual(zoomed[0], 'encoder.layers.1')
        self.assertIn('encoder.layers.1.linear1', zoomed)
        self.assertNotIn('encoder.layers.2', zoomed)
        self.browser.keys('Escape', 'Escape')  # its parent, then everything
        self.assertEqual(frames(), whole)
        self.assertFalse(self.browser.run('return document.querySelector(".flame-path").checkVisibility()'))
        self.browser.click('.frame[title^="encoder.layers.1\\a "]')
        self.assertEqual(self.browser.texts('.flame-path > *')[:2], ['← All', 'TinyTransformer'])
        self.browser.click('.flame-path button:nth-of-type(2)')
        self.assertEqual(frames()[0], 'TinyTransformer')
        self.browser.click('.flame-path button')
        self.assertEqual(frames(), whole)

    def test_dark_follows_the_system_and_the_button(self):
        ground = lambda: self.browser.run('return getComputedStyle(document.body).backgroundColor')
        light = ground()
        self.browser.prefer(color_scheme='dark')
        dark = ground()
        self.assertNotEqual(dark, light)
        self.browser.click('button.theme')
        self.assertEqual(ground(), light)
        self.browser.open(self.folder / 'small/index.html')
        self.assertEqual(ground(), light)  # the choice is kept

    def test_nothing_is_wider_than_a_phone(self):
        for page in ('small', 'large', 'empty', 'gpu', 'h200_two_ranks'):
            self.browser.resize(360, 740, scale=2)
            self.browser.open(self.folder / page / 'index.html')
            self.browser.run('document.querySelectorAll(".table-box").forEach(box => { box.open = true })')
            width, inner = self.browser.run('return [document.documentElement.scrollWidth, innerWidth]')
            self.assertEqual((width, inner), (360, 360), page)

    def test_text_can_be_read_on_its_ground(self):
        for scheme in ('light', 'dark'):
            self.browser.prefer(color_scheme=scheme)
            self.assertEqual(page_text.hard_to_read(self.browser, 'main *, footer'), [], scheme)

    def test_everything_has_a_name_for_a_screen_reader(self):
        unnamed = self.browser.run('''
          return [...document.querySelectorAll("button, input, select, [role=img], [role=region]")]
            .filter(e => !(e.ariaLabel || e.innerText || e.labels?.length || e.title)).map(e => e.outerHTML)''')
        self.assertEqual(unnamed, [])

    def test_a_run_without_steps_says_why(self):
        self.browser.open(self.folder / 'empty/index.html')
        self.assertIn('No steps', self.browser.text('main'))
        self.assertIn('The run', self.browser.text('main'))

    def test_two_runs_are_compared(self):
        self.browser.open(self.folder / 'small/diff.html')
        self.assertRegex(self.browser.text('.big'), r'^8\.\d\s*% faster$')
        rows = self.browser.run('return [...document.querySelectorAll("#changes-panel-0 tr")].slice(1)'
                                '.map(row => row.cells[0].textContent)')
        self.assertEqual(rows[0], 'forward')  # the phase that changed most
        self.assertEqual(rows[-1], 'step')
        self.assertEqual(self.browser.run('return document.images.length + document.scripts.length'), 0)
        self.browser.resize(360, 740, scale=2)
        self.assertEqual(self.browser.run('return document.documentElement.scrollWidth'), 360)

    def test_the_page_asks_for_nothing(self):
        loads = self.browser.run('return performance.getEntriesByType("resource").map(e => e.name)')
        self.assertEqual(loads, [])


if __name__ == '__main__':
    SAMPLE_REPORT = sys.argv.pop(1)
    BATCHLIGHT = sys.argv.pop(1)
    if webdriver.missing():
        print('skipped:', webdriver.missing())
        sys.exit(77)
    unittest.main()
