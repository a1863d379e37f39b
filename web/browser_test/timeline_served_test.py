#!/usr/bin/env python3
"""The timeline of `batchlight view` in a real browser: recordings of an H200, their numbers against `batchlight
summary`, links from calls to kernels, notes that stay, two runs, and a page that needs nothing but its server.

Usage: timeline_served_test.py BATCHLIGHT [unittest arguments]. Exits with 77 (skipped) when the machine has no
browser."""
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import webdriver

BATCHLIGHT = ''
RECORDINGS = pathlib.Path(__file__).resolve().parents[2] / 'tests/recordings'


class Served(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix='bl-view-')))
        cls.train = cls.folder / 'train.batchlight'
        shutil.copy(RECORDINGS / 'h200_train.batchlight', cls.train)
        cls.browser = cls.enterClassContext(webdriver.Browser())

    def setUp(self):
        self.browser.prefer(color_scheme='light', reduced_motion='reduce')
        self.browser.resize(1400, 900)

    def tearDown(self):
        self.assertEqual([error for error in self.browser.errors() if 'willReadFrequently' not in error], [])

    def view(self, *words):
        """Starts a server; its address is open in the browser."""
        tool = subprocess.Popen([BATCHLIGHT, 'view', '--no-browser', *map(str, words)], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(tool.stdout.close)
        self.addCleanup(tool.wait)
        self.addCleanup(tool.kill)
        # First: what the page yet asks for finds its server.
        self.addCleanup(self.browser.open_url, 'about:blank')
        url = tool.stdout.readline().strip()
        self.browser.open_url('about:blank')
        self.browser.open_url(url)
        self.browser.wait_for('.region')
        self.wait('return batchlightTimeline.counts().items > 0')
        return tool

    def js(self, script, *arguments):
        return self.browser.run(script, *arguments)

    def wait(self, script, *arguments):
        end = time.monotonic() + webdriver.LONG_S
        while time.monotonic() < end:
            if value := self.js(script, *arguments):
                return value
            time.sleep(0.05)
        self.fail(f'never true: {script}; the page says: {self.js("return document.body.innerText")[:2000]}')

    def selected(self):
        return self.js('return batchlightTimeline.app.model.selected?.event ?? null')

    def test_first_picture(self):
        self.view(self.train)
        self.assertNotIn('token', self.js('return location.href'))
        kinds = self.js('return batchlightTimeline.app.model.tracks.map(({kind}) => kind)')
        for kind in ('process', 'steps', 'phases', 'thread', 'gpu', 'idle', 'stream'):
            self.assertIn(kind, kinds)
        self.assertEqual(self.js('return performance.getEntriesByType("resource").filter(({name}) => !name.startsWith(location.origin)).length'), 0)
        sums = self.js('const {model} = batchlightTimeline.app; const {first} = model; let sum = 0;'
                       'const rows = model.tracks.filter(({info}) => info && !info.counter).map(({info}) => [info.id, 0, info.rows]);'
                       'return first.source.view({from: first.info.from, to: first.info.to + 2 ** 24, step: 2 ** 20, rows})'
                       '.then(({rows}) => { for (const {merged} of rows.values()) for (const count of merged) sum += count; return sum; })')
        self.assertEqual(sums, self.js('return batchlightTimeline.app.model.first.info.tables.reduce((all, {rows}) => all + rows, 0)'))

    def test_a_step_is_called_and_found_by_its_number(self):
        self.view(self.train)
        self.browser.type('.search', 'step 3')
        self.wait('return /Enter goes to\\s+step 3/.test(document.querySelector(".search-panel")?.innerText)')
        self.browser.keys('Enter')
        self.wait('const {range} = batchlightTimeline.app.model; return range && range.steps.first === 3')
        self.js('const {actions, model} = batchlightTimeline.app; actions.go(model.first, model.first.info.steps[0].first_ref + 3)')
        self.wait('return batchlightTimeline.app.model.selected')
        self.assertRegex(self.browser.text('.event-panel h2'), r'^step 3 \(')
        self.assertRegex(self.browser.text('.status'), r'^step 3 \(')
        self.js('batchlightTimeline.app.search.set("step 30000")')
        self.wait('return /This recording has no step 30000: its steps go from 0 to/.test(document.querySelector(".search-panel")?.innerText)')

    def test_a_step_has_the_numbers_of_the_summary(self):
        command = [BATCHLIGHT, 'table', 'kernels', '-f', 'json', '--first-step', '3', '--last-step', '3', str(self.train)]
        kernels = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        known = {row['Kernel']: row['Time per Step (ns)'] for row in kernels if row['Calls per Step'] > 0}
        self.assertGreater(len(known), 10)
        self.view('--step', '3', self.train)
        self.wait('return document.querySelector(".range-panel table") !== null')
        self.assertIn('Step 3', self.browser.text('.range-head'))
        tabs = self.browser.texts('.range-panel [role=tab]')
        self.assertIn('Events by name', tabs)
        self.assertGreater(len(tabs), 3)
        # What a step is made of stands in front, and samples of Python behind all else.
        self.assertLess(tabs.index('Kernels'), tabs.index('Events by name'))
        self.assertEqual(self.browser.text('.range-panel [role=tab][aria-selected=true]'), tabs[0])
        # The table has the room: one line with the range and one with the tabs stand above it.
        self.browser.resize(1440, 900)
        self.addCleanup(self.browser.resize, 1280, 900)
        above = self.js('return document.querySelector(".range-panel [role=tabpanel]:not(.hidden-tab) table").getBoundingClientRect().top'
                        ' - document.querySelector(".range-panel").getBoundingClientRect().top')
        self.assertLess(above, 90)
        table = self.js('const {source} = batchlightTimeline.app.model.first;'
                        'return source.call("range", {first_step: 3, last_step: 3, tables: ["kernels"]})')['tables'][0]
        keys = [column['key'] for column in table['columns']]
        self.assertEqual({row[keys.index('name')]: row[keys.index('time_per_step')] for row in table['rows']}, known)
        # And so they stand there.
        self.browser.click('.range-panel [role=tab]:nth-of-type(%d)' % (tabs.index('Kernels') + 1))
        name, longest = max(known.items(), key=lambda item: item[1])
        shown = self.wait('const panel = document.querySelector(".range-panel [role=tabpanel]:not(.hidden-tab)");'
                          'return panel.querySelector("th")?.innerText.includes("Kernel") ? panel.querySelector("tbody tr").textContent : ""')
        self.assertIn(name[:200], shown)
        self.assertIn('%.3f' % (longest / 1000), shown)

    def test_the_chart_of_step_times_has_the_numbers_of_the_tables(self):
        self.view(self.train)
        strip = self.js('return document.querySelector(".step-strip").getBoundingClientRect().height')
        self.assertGreaterEqual(strip, 24)
        steps, palette = self.js('const {info} = batchlightTimeline.app.model.first; return [info.steps[0], info.palettes.phase]')
        labels = {entry['name']: entry['label'] for entry in palette}
        self.js('document.querySelector(".step-strip").focus()')
        for place in (3, 5):
            self.browser.keys('Home', *['Right'] * place)
            self.wait('return batchlightTimeline.app.model.range?.steps?.first === arguments[0]', steps['number'][place])
            table = self.js('const {source} = batchlightTimeline.app.model.first;'
                            'return source.call("range", {first_step: arguments[0], last_step: arguments[0], tables: ["phases"]})',
                            steps['number'][place])['tables'][0]
            keys = [column['key'] for column in table['columns']]
            known = {row[keys.index('phase')]: row[keys.index('mean')] for row in table['rows']}
            charted = {labels[name]: us[place] for name, us in zip(steps['phases']['names'], steps['phases']['us']) if us[place]}
            for name, us in charted.items():
                self.assertAlmostEqual(known[name] / 1000, us, delta=1, msg=name)
            self.assertAlmostEqual(sum(charted.values()), (steps['to'][place] - steps['from'][place]) / 1000, delta=len(charted))

    def test_from_a_launch_to_its_kernel_and_back(self):
        self.view(self.train)
        self.js('const {app} = batchlightTimeline; void app.model.first.source.call("find", {text: "", limit: 1000}).then(({matches}) => {'
                ' const kernel = matches.find(({table}) => table === "kernels");'
                ' app.actions.go(app.model.first, kernel.longest_ref); })')
        self.wait('return batchlightTimeline.app.model.selected?.event.table === "kernels"')
        kernel = self.selected()
        self.assertTrue(kernel['fields'])
        self.browser.keys('[')
        self.wait('return batchlightTimeline.app.model.selected.event.table === "api_calls"')
        self.wait('return batchlightTimeline.app.model.links.length > 0')
        self.browser.keys(']')
        self.wait('return batchlightTimeline.app.model.selected.event.ref === arguments[0]', kernel['ref'])
        self.browser.keys('Ctrl+]')
        self.wait('return /^It is the only link forward from there/.test(document.querySelector(".status").innerText)')
        self.browser.keys('l')
        self.wait('return /longest of/.test(document.querySelector(".status").innerText) || batchlightTimeline.app.model.selected.event.same_name.rank === 1')

    def test_the_longest_gap_has_a_cause(self):
        self.view(self.train)
        self.browser.keys('i')
        self.wait('return batchlightTimeline.app.model.selected?.event.table === "gpu_idle"')
        self.assertRegex(self.browser.text('.event-panel h2'), r'\w')
        self.assertEqual(self.selected()['same_name']['rank'] >= 1, True)
        self.assertRegex(self.browser.text('.event-panel'), r'\blongest of [\d,]+ gaps that begin in the \d+ steps that count; longer: .* after the last step at 7\.30')

    def test_visible_events_have_their_whole_times(self):
        """Also those that begin before, or end after, what was fetched."""
        self.view('--step', '4', self.train)
        self.browser.keys('i')
        self.wait('return batchlightTimeline.app.model.selected !== null')
        self.browser.keys('w', 'w', 'w', 'w')
        self.browser.click('#dock-tab-events')
        step = self.wait('const row = [...document.querySelectorAll(".events-box tbody tr")].find(({cells}) => /^step \\d+$/.test(cells[0].innerText));'
                         'return row && !row.cells[6]?.innerText && [...row.cells].slice(0, 3).map(({innerText}) => innerText)')
        number, start, length = self.js(
            'const [{number, from, to}] = batchlightTimeline.app.model.first.info.steps; const i = number.indexOf(arguments[0]);'
            'return [number[i], from[i], to[i] - from[i]]', int(step[0].split()[1]))
        self.assertEqual(step, [f'step {number}', f'{start / 1e9:.9f} s', f'{length / 1e6:.3g} ms'])
        self.js('Object.defineProperty(navigator, "clipboard", {value: {writeText: async (text) => { window.copied = text; }}, configurable: true})')
        self.browser.click('.events-panel button')
        self.assertIn(f'\nstep {number},{start},{length},', self.wait('return window.copied'))

    def click_on(self, kind, time, row=0):
        """Clicks where the first row of the first track of a kind is at that time."""
        left, top, x, y = self.js(
            'const {app} = batchlightTimeline; const {stage, model} = app;'
            'const lane = stage.lanes.find(({block, depth}) => block.track.kind === arguments[0] && depth === arguments[2]);'
            'const box = document.querySelector(".over").getBoundingClientRect();'
            'return [box.left, box.top, model.view.x(arguments[1]), lane.y + lane.height / 2]', kind, time, row)
        self.browser.click_at(left + x, top + y)

    def test_the_path_to_the_longest_gap_and_its_cause(self):
        """What docs/view.md tells a newcomer, step by step, by key and by clicks alone."""
        self.view(self.train)
        self.browser.keys('i')
        self.wait('return batchlightTimeline.app.model.selected?.event.table === "gpu_idle"')
        gap = self.selected()
        self.assertRegex(self.browser.text('.event-panel h2'), r'^idle: ')  # the cause
        self.assertRegex(self.browser.text('.event-panel'), r'(?s)of this name.*gaps with this main cause')
        self.assertNotIn('own time', self.browser.text('.event-panel'))  # its causes make it up
        # The panel's clock is the axis's.
        self.assertIn(f'{gap["from"] / 1e9:.9f} s', self.browser.text('.event-panel'))
        self.wait('return document.querySelector(".status").innerText !== ""')
        # By clicks: the tab Search, the words, the longest of the first name.
        self.view(self.train)
        self.browser.click('#dock-tab-search')
        self.browser.click('.search')
        self.browser.type('.search', 'idle')
        self.wait('return document.querySelectorAll(".search-panel tbody tr").length > 0')
        # All idle time, once.
        idle = self.js('const {source, info} = batchlightTimeline.app.model.first; return Promise.all(['
                       ' source.call("find", {text: "idle: "}), source.call("range", {from: String(info.from), to: String(info.to + 1), tables: ["events"]})])')
        gaps = [row for row in idle[1]['tables'][0]['rows'] if row[0] == 'Idle gap of a GPU']
        self.assertEqual(idle[0]['total'], sum(row[3] for row in gaps))
        self.assertEqual({match['table'] for match in idle[0]['matches']}, {'gpu_idle_causes'})
        self.browser.click('.search-panel tbody tr td:last-child button')
        self.wait('return batchlightTimeline.app.model.selected?.event.name.startsWith("idle: ")')
        # Straight up from the gap: what the program did instead.
        self.js('batchlightTimeline.app.actions.go(batchlightTimeline.app.model.first, arguments[0])', gap['ref'])
        self.wait('return batchlightTimeline.app.model.selected?.event.ref === arguments[0]', gap['ref'])
        self.browser.wait_frames(5)
        middle = (gap['from'] + gap['to']) / 2
        self.js('batchlightTimeline.app.stage.scrollTo(batchlightTimeline.app.model.tracks.find(({kind}) => kind === "thread").id, 0)')
        self.browser.wait_frames(5)
        self.click_on('thread', middle)
        self.wait('const event = batchlightTimeline.app.model.selected?.event; return event && event.ref !== arguments[0]', gap['ref'])
        found = self.selected()
        self.assertLessEqual(found['from'], middle)
        self.assertGreaterEqual(found['to'], middle)
        self.assertNotEqual(self.browser.text('.event-panel h2'), '')

    def test_from_a_collective_to_the_other_rank_and_back(self):
        self.view(RECORDINGS / 'h200_two_ranks.batchlight')
        titles = self.js('return batchlightTimeline.app.model.tracks.filter(({kind}) => kind === "collectives").map(({name}) => name)')
        self.assertEqual(len(titles), 2, titles)
        self.assertRegex(titles[0], r'^communicator 0.*2 ranks$')
        self.js('const {app} = batchlightTimeline; void app.actions.find.longest({text: "AllReduce, "}, 0)')
        self.wait('return batchlightTimeline.app.model.selected?.event.table === "collectives"')
        first = self.selected()
        across = [link for link in first['links'] if link['kind'] == 'collective']
        self.assertEqual(len(across), 1)
        self.assertNotEqual(across[0]['track'], first['track'])
        self.assertIn('the same collective', self.browser.text('.event-panel'))
        key = ']' if across[0]['forward'] else '['
        self.browser.keys(key)
        for _ in first['links']:
            if self.wait('return batchlightTimeline.app.model.selected.event.ref !== arguments[0]'
                         ' && batchlightTimeline.app.model.selected.event', first['ref'])['table'] == 'collectives':
                break
            before = self.selected()['ref']
            self.browser.keys('Ctrl+]')
            self.wait('return batchlightTimeline.app.model.selected.event.ref !== arguments[0]', before)
        self.assertEqual(self.selected()['ref'], across[0]['ref'])

    def test_the_memory_of_a_range(self):
        self.view(RECORDINGS / 'h200_memory.batchlight')
        self.js('const {app} = batchlightTimeline; const {model} = app; app.range.showSteps(model.first.info.steps[0].number[1], model.first.info.steps[0].number[1])')
        self.wait('return [...document.querySelectorAll(".range-panel [role=tab]")].some(({innerText}) => innerText === "Memory")')
        self.js('[...document.querySelectorAll(".range-panel [role=tab]")].find(({innerText}) => innerText === "Memory").click()')
        text = self.browser.text('.range-panel [role=tabpanel]:not(.hidden-tab)')
        self.assertIn('all', text)
        self.assertIn('Copy CSV', text)

    def test_search(self):
        self.view('--find', 'elementwise', self.train)
        self.wait('return /elementwise/i.test(batchlightTimeline.app.model.selected?.event.name)')
        self.assertGreater(self.js('return batchlightTimeline.app.model.found.most'), 0)
        # All of the name, one after the other, and the first again.
        count = self.js('return batchlightTimeline.app.model.found.events')
        first = self.selected()['ref']
        place = 'batchlightTimeline.app.model.selected.event.ref'
        seen = [first]
        for _ in range(count):
            self.js('document.querySelector("input.search").focus()')
            self.browser.keys('Enter')
            self.wait(f'return {place} !== arguments[0]', seen[-1])
            seen.append(self.js(f'return {place}'))
        self.assertEqual(seen[-1], first)
        self.assertEqual(len(set(seen)), count)

    def test_a_search_begins_in_the_window(self):
        self.view(self.train)
        self.browser.click('input.search')
        self.browser.type('input.search', 'step')
        self.wait('return batchlightTimeline.app.model.found !== null')
        left = 'batchlightTimeline.app.model.view.from'
        before = self.js(f'return {left}')
        self.browser.keys('Enter')
        self.wait('return batchlightTimeline.app.model.selected !== null')
        first = self.js('return Math.min(...batchlightTimeline.app.model.first.info.steps[0].from.filter((at) => at >= arguments[0]))', before)
        self.assertLessEqual(self.selected()['from'], first)

    def test_notes_stay(self):
        tool = self.view(self.train)
        self.browser.keys('i')
        self.wait('return batchlightTimeline.app.model.selected !== null')
        self.browser.keys('Shift+m')
        self.browser.wait_for('.notes input')
        self.browser.keys('w', 'h', 'y', 'Enter')
        file = pathlib.Path(f'{self.train}.notes.json')
        end = time.monotonic() + webdriver.LONG_S
        while time.monotonic() < end and not (file.exists() and 'why' in file.read_text()):
            time.sleep(0.05)
        self.assertIn('why', file.read_text())
        self.browser.open_url('about:blank')  # what the page yet asks for finds its server
        tool.kill()
        self.view(self.train)
        self.wait('return batchlightTimeline.app.model.notes.some(({text}) => text === "why")')

    def test_notes_of_another_page_appear(self):
        run = self.folder / 'followed.batchlight'
        shutil.copy(self.train, run)
        self.view(run)
        shown = 'return batchlightTimeline.app.model.notes.map(({text}) => text).sort()'
        self.wait_equal(shown, [])
        pathlib.Path(f'{run}.notes.json').write_text('{"notes": [{"id": "x", "text": "theirs", "from": 5, "to": 5}]}')
        self.wait('window.dispatchEvent(new Event("pointermove"));'
                  'return batchlightTimeline.app.model.notes[0]?.text === "theirs"')

    def test_a_server_that_hangs_is_told_of(self):
        tool = self.view(self.train)
        tool.send_signal(signal.SIGSTOP)
        self.wait('window.dispatchEvent(new Event("pointermove"));'
                  'return /does not answer/.test(document.querySelector(".warning")?.innerText)')
        tool.send_signal(signal.SIGCONT)
        self.wait('return document.querySelector(".warning") === null')

    def test_what_another_page_deleted_does_not_come_back(self):
        run = self.folder / 'shared.batchlight'
        shutil.copy(self.train, run)
        self.view(run)
        notes = ('return batchlightTimeline.app.model.first.source.call("notes")'
                 '.then(({notes}) => notes.map(({text}) => text))')
        self.browser.keys('Shift+m', 'a', 'Enter')
        self.wait_equal(notes, ['a'])
        # As another browser does it.
        self.js('return batchlightTimeline.app.model.first.source.call("notes_put",'
                ' {set: [{id: "other", text: "o", from: 5, to: 5}], drop: [batchlightTimeline.app.model.notes[0].id]})'
                '.then(() => true)')
        self.browser.keys('Shift+m', 'b', 'Enter')
        self.wait_equal(notes, ['o', 'b'])
        shown = 'return batchlightTimeline.app.model.notes.map(({text}) => text).sort()'
        self.wait_equal(shown, ['b', 'o'])
        self.view(run)
        self.wait_equal(shown, ['b', 'o'])

    def wait_equal(self, code, value):
        end = time.monotonic() + webdriver.LONG_S
        while time.monotonic() < end and self.js(code) != value:
            time.sleep(0.05)
        self.assertEqual(self.js(code), value)

    def test_keys_work_after_a_click_anywhere(self):
        self.view(self.train)
        self.browser.keys('i')
        self.wait('return batchlightTimeline.app.model.selected !== null')
        for place in ('.buttons button:nth-child(3)', '.dock-body', '.track-name', '.minimap', '.theme', '#dock-tab-event'):
            self.browser.click(place)
            before = self.js('return batchlightTimeline.app.model.view.to - batchlightTimeline.app.model.view.from')
            self.browser.keys('w')
            self.wait('return batchlightTimeline.app.model.view.to - batchlightTimeline.app.model.view.from < arguments[0]', before)
            self.browser.keys('s')
        # Enter is the button's that has the focus, and what is typed is the field's.
        self.js('document.querySelector(".link-menu summary").focus()')
        self.browser.keys('Enter')
        self.assertTrue(self.js('return document.querySelector(".link-menu").open'))
        before = self.js('return batchlightTimeline.app.model.view.span')
        self.browser.click('.track-filter')
        self.browser.keys('w', 'a', 'i', 't')
        self.assertEqual(self.js('return document.querySelector(".track-filter").value'), 'wait')
        self.assertEqual(self.js('return batchlightTimeline.app.model.view.span'), before)

    def test_a_note_gives_the_keys_back(self):
        shutil.copy(self.train, self.folder / 'noted.batchlight')
        self.view(self.folder / 'noted.batchlight')
        self.browser.keys('Shift+m', 'h', 'i', 'Enter')
        self.assertEqual(self.js('return document.activeElement.className'), 'region')
        self.assertEqual(self.js('return batchlightTimeline.app.model.notes.map(({text}) => text)'), ['hi'])
        self.browser.keys('i')
        self.wait('return batchlightTimeline.app.model.selected !== null')
        self.assertEqual(self.js('return batchlightTimeline.app.model.notes.map(({text}) => text)'), ['hi'])

    def test_the_step_of_an_event_is_that_of_its_rank(self):
        self.view(RECORDINGS / 'h200_two_ranks.batchlight')
        place = self.js('const {first, tracks} = batchlightTimeline.app.model;'
                        'const [steps, other] = [first.info.steps[1], first.info.steps[0]];'
                        'batchlightTimeline.app.actions.go(first, steps.first_ref + 4);'
                        'return [steps.from[4], steps.to[4], steps.number[4], other.from[4]]')
        self.wait('return batchlightTimeline.app.model.selected !== null')
        self.assertNotEqual(place[0], place[3])
        self.assertRegex(self.browser.text('.event-panel'), r'rank 1, ddp.py \(pid \d+\), Steps')
        self.assertRegex(self.browser.text('.status'), r'rank 1, ddp.py')
        self.js('const {source} = batchlightTimeline.app.model.first; const call = source.call.bind(source); window.answered = [];'
                'source.call = (name, what, ...more) => { const answer = call(name, what, ...more); if (name === "range") void answer.then((one) => answered.push(one)); return answer; }')
        self.browser.keys('t')
        self.wait('return batchlightTimeline.app.model.range !== null')
        found = self.js('const {from, to, steps} = batchlightTimeline.app.model.range; return [from, to, steps.first]')
        self.assertEqual(found, place[:3])
        self.wait('return /^Step/.test(document.querySelector(".range-head").innerText)')
        self.assertIn(f'Step {place[2]} of rank 1', self.browser.text('.range-head'))
        # Its own time is asked for: no other rank's step of that number.
        self.wait('return answered.length > 0')
        self.assertEqual(self.js('return answered.map(({from, to, processes}) => [from, to, processes.map(({first_step, last_step}) => [first_step, last_step])])'),
                         [[*place[:2], [[place[2], place[2]]] * 2]])
        # So does the chart of step times.
        self.assertEqual(self.browser.text('.step-head b'), 'Step times of rank 1')
        self.js('document.querySelector(".step-strip").focus()')
        self.browser.keys('Home')
        self.assertEqual(self.js('const {steps} = batchlightTimeline.app.model.range; return [steps.process, steps.of]'), [1, 'rank 1'])

    def test_a_table_is_copied_as_it_is_sorted_and_filtered(self):
        self.view('--step', '3', self.train)
        self.js('navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }')
        panel = '.range-panel [role=tabpanel]:not(.hidden-tab)'
        self.wait('return [...document.querySelectorAll(".range-panel [role=tab]")].some(({innerText}) => innerText === "Events by name")')
        self.js('[...document.querySelectorAll(".range-panel [role=tab]")].find(({innerText}) => innerText === "Events by name").click()')
        self.browser.click(f'{panel} th:nth-child(2) button')
        self.browser.type(f'{panel} .table-tools input', 'cuda')
        self.js(f'[...document.querySelectorAll("{panel} .buttons button")].find(({{innerText}}) => innerText === "Copy CSV").click()')
        lines = self.wait('return window.copied').splitlines()
        shown = self.browser.texts(f'{panel} tbody td:first-child')
        self.assertGreater(len(shown), 1)
        self.assertEqual([line.split(',')[0] for line in lines[1:1 + len(shown)]], shown)
        self.assertTrue(all('cuda' in line.lower() for line in lines[1:]), lines)
        self.assertRegex(self.browser.text(f'{panel} .buttons [role=status]'), rf'^copied {len(lines) - 1} of \d+ rows, as filtered$')
        # As text, in columns as the terminal has them.
        self.js(f'[...document.querySelectorAll("{panel} .buttons button")].find(({{innerText}}) => innerText === "Copy text").click()')
        text = self.wait('return window.copied.startsWith(arguments[0]) ? "" : window.copied', lines[0]).splitlines()
        self.assertEqual([line.split()[0] for line in text[1:]], [line.split(',')[0].split()[0] for line in lines[1:]])

    def test_what_is_not_there_is_said(self):
        self.view('--step', '9999', self.train)
        self.wait('return document.querySelector(".warning") !== null')
        self.assertEqual(self.browser.text('.warning'), 'This recording has no step 9999: its steps go from 0 to 7.')
        self.browser.click('#dock-tab-range')
        self.browser.type('[aria-label="first step"]', '2')
        self.browser.type('[aria-label="last step"]', '9')
        self.browser.keys('Enter')
        self.assertEqual(self.browser.text('.range-panel [role=alert]'), 'This recording has no steps 2 to 9: its steps go from 0 to 7.')
        self.js('location.hash = "step=2"')
        self.wait('return document.querySelector(".warning") === null && batchlightTimeline.app.model.range?.steps.first === 2')

    def test_a_file_that_is_replaced(self):
        file = self.folder / 'other.batchlight'
        shutil.copy(self.train, file)
        self.view(file)
        shutil.copy(RECORDINGS / 'h200_compile.batchlight', f'{file}.new')
        pathlib.Path(f'{file}.new').rename(file)
        self.wait('window.dispatchEvent(new Event("pointermove"));'
                  'return /changed or replaced/.test(document.querySelector(".warning")?.innerText)')
        self.browser.keys('Shift+m', 'x', 'Enter')
        self.wait('return /^Not saved: /.test(document.querySelector(".notes-panel").innerText)')
        self.assertFalse(pathlib.Path(f'{file}.notes.json').exists())
        file.unlink()
        self.wait('window.dispatchEvent(new Event("pointermove"));'
                  'return /no longer there/.test(document.querySelector(".warning")?.innerText)')
        self.assertTrue(all('notes_put' in error for error in self.browser.errors()))

    def test_a_frame_leaves_the_focus(self):
        page = self.folder / 'framed.html'
        subprocess.run([BATCHLIGHT, 'view', '--html', page, self.train], check=True, stdout=subprocess.DEVNULL)
        (self.folder / 'frame.html').write_text('<input autofocus><iframe width=900 height=600></iframe>')
        self.browser.open_url('about:blank')
        self.browser.open_url((self.folder / 'frame.html').as_uri())
        self.js('document.querySelector("input").focus(); document.querySelector("iframe").srcdoc = arguments[0]', page.read_text())
        self.wait('return document.querySelector("iframe").contentWindow.batchlightTimeline?.counts().items > 0')
        self.assertEqual(self.js('return document.activeElement.tagName'), 'INPUT')

    def test_a_link_with_its_token_opens_anywhere(self):
        self.view('--at', '7.2s', self.train)
        self.js('window.copied = []; navigator.clipboard.writeText = (text) => { copied.push(text); return Promise.resolve(); }')
        for i in (1, 2):
            self.browser.click('.link-menu summary')
            self.browser.click(f'.link-menu p:nth-child({i}) button')
        whole, place = self.js('return copied')
        self.assertNotIn('token', place)
        self.assertRegex(place, r'^#hash=\w+&from=\d+&to=\d+')
        self.js('sessionStorage.clear()')
        self.browser.open_url('about:blank')
        self.browser.open_url(whole)
        self.wait('return window.batchlightTimeline?.counts().items > 0')
        self.assertNotIn('token', self.js('return location.href'))

    def test_without_a_gpu(self):
        run = self.folder / 'cpu.batchlight'
        subprocess.run([BATCHLIGHT, 'profile', '-o', run, sys.executable, '-c', 'import json'], check=True, capture_output=True)
        self.view(run)
        self.browser.keys('i')
        self.wait('return document.querySelector(".status").innerText === "This recording has no work on a GPU, and so none of its idle time."')

    def test_two_runs(self):
        self.view(self.train, RECORDINGS / 'h200_compile.batchlight')
        self.wait('return batchlightTimeline.app.model.tracks.some(({run}) => run === 1)')
        runs = self.js('return batchlightTimeline.app.model.tracks.filter(({kind}) => kind === "steps").map(({run}) => run)')
        self.assertEqual(runs[:2], [0, 1])
        self.wait('return document.querySelector(".compare-panel form") !== null')
        said = self.browser.text('.compare-panel [role=status]')
        self.assertRegex(said, r'^aligned at step \d+ of A .* and \d+ of B')
        self.assertEqual(self.js('return document.querySelector("h1").textContent'), 'Atrain.batchlight (train.py)Bh200_compile.batchlight (co.py)')
        # The steps that are aligned come into view.
        step = self.js('const {app} = batchlightTimeline; const [steps] = app.model.first.info.steps;'
                       'app.model.show({from: steps.from[0], to: steps.to[0]});'
                       'const [asked] = app.compare.pairs.slice(-1); const i = steps.number.indexOf(asked.a);'
                       'const input = document.querySelector(".compare-panel input"); input.value = asked.a; input.form.requestSubmit();'
                       'return [steps.from[i], steps.to[i]]')
        self.wait('const {view} = batchlightTimeline.app.model; return view.from <= arguments[0] && view.to >= arguments[1]', *step)
        # What is told of B stands on the axis too.
        self.js('const {app} = batchlightTimeline; const run = app.model.runs[1]; app.actions.go(run, run.info.steps[0].first_ref + 2)')
        self.wait('return batchlightTimeline.app.model.selected !== null')
        self.assertRegex(self.browser.text('.event-panel'), r'\d s of B, -?[\d.]+ m?s on the axis')
        # The process of one run does not stand for both, and the numbers say what they are.
        self.assertEqual(self.js('return batchlightTimeline.app.model.tracks.find(({kind}) => kind === "process").name'), 'train.py / co.py')
        self.browser.click('#dock-tab-compare')
        self.assertRegex(self.browser.text('.compare-panel'), 'Means of a step that counts')
        self.assertEqual(self.browser.text('.compare-panel [role=tabpanel]:not(.hidden-tab) tbody td'), 'step')

    def test_a_step_of_two_runs_has_the_tables_of_both(self):
        self.view(self.train, RECORDINGS / 'h200_compile.batchlight')
        self.wait('return document.querySelector(".compare-panel [role=status]") !== null')
        self.assertEqual(self.browser.texts('.step-head b'), ['Step times of A', 'Step times of B'])
        self.js('document.querySelector(".step-strip").focus()')
        self.browser.keys('Home', *['Right'] * 4)
        self.wait('return batchlightTimeline.app.model.range?.steps?.first === 4')
        self.wait('return document.querySelector(".range-panel table") !== null')
        self.js('[...document.querySelectorAll(".range-panel [role=tab]")].find(({innerText}) => innerText === "What a step is made of").click()')
        shown = self.js('return [...document.querySelectorAll(".range-panel [role=tabpanel]:not(.hidden-tab) tr")].map(({cells}) => [...cells].map(({innerText}) => innerText.trim()))')
        head = shown[0]
        a, b, between = (head.index(f'Mean, {name} (ms)') for name in ('A', 'B', 'B - A'))
        number = lambda text: 0 if text == '–' else float(text)
        for row in shown[1:]:
            self.assertAlmostEqual(number(row[b]) - number(row[a]), number(row[between]), delta=0.00015, msg=row[0])
        # Each has its own run's step, as the summary of that run says it.
        for path, column in ((self.train, a), (RECORDINGS / 'h200_compile.batchlight', b)):
            command = [BATCHLIGHT, 'table', 'phases', '-f', 'json', '--first-step', '4', '--last-step', '4', path]
            known = {row['Phase']: row['Mean (ns)'] for row in json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)}
            for row in shown[1:]:
                self.assertAlmostEqual(number(row[column]), known.get(row[0], 0) / 1e6, delta=0.0001, msg=f'{path}: {row[0]}')
        # A bar of B leads to its own step, wherever that stands on the axis.
        left, top, width = self.js('const box = document.querySelectorAll(".step-strip .median")[1].getBoundingClientRect(); return [box.left, box.top, box.width]')
        begin, end, count = self.js('const {offset, info: {steps: [{from, to, count}]}} = batchlightTimeline.app.model.runs[1]; return [from[2] + offset, to[2] + offset, count]')
        self.browser.click_at(left + 2.5 * width / count, top + 2)
        self.wait('const {range, view} = batchlightTimeline.app.model; return range.from === arguments[0] && range.to === arguments[1] &&'
                  'view.from < range.from && view.to > range.to', begin, end)
        self.wait('return document.querySelector(".range-head").innerText.startsWith("Step 2 of B")')  # of both, as T has it

    def test_a_note_of_the_second_run_lies_beside_it(self):
        second = self.folder / 'second.batchlight'
        shutil.copy(RECORDINGS / 'h200_compile.batchlight', second)
        first = self.folder / 'first.batchlight'
        shutil.copy(self.train, first)
        self.view('--step', '4', first, second)
        self.wait('return batchlightTimeline.app.compare.step === 4')
        self.js('const {app} = batchlightTimeline; const run = app.model.runs[1]; app.actions.go(run, run.info.steps[0].first_ref + 4)')
        self.wait('return batchlightTimeline.app.model.selected?.run.index === 1')
        event = self.selected()
        self.browser.keys('Shift+m', 'h', 'i', 'Enter')
        file = pathlib.Path(f'{second}.notes.json')
        end = time.monotonic() + webdriver.LONG_S
        while time.monotonic() < end and not (file.exists() and 'hi' in file.read_text()):
            time.sleep(0.05)
        [note] = json.loads(file.read_text())['notes']
        self.assertEqual([note[key] for key in ('from', 'to', 'table', 'row')], [event['from'], event['to'], event['table'], event['row']])
        self.assertFalse(pathlib.Path(f'{first}.notes.json').exists())

    def test_a_wrong_token_is_named(self):
        tool = subprocess.Popen([BATCHLIGHT, 'view', '--no-browser', str(self.train)], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(tool.stdout.close)
        self.addCleanup(tool.wait)
        self.addCleanup(tool.kill)
        url = tool.stdout.readline().strip()
        self.browser.open_url('about:blank')
        self.browser.open_url(url.split('#')[0] + '#token=' + '0' * 64)
        self.wait('return document.querySelector("[role=alert]") !== null')
        self.assertRegex(self.browser.text('[role=alert]'), 'URL|address|token')
        self.assertIn('Open the printed address again', self.browser.text('main'))
        self.browser.errors()

    def test_a_file(self):
        page = self.folder / 'page.html'
        subprocess.run([BATCHLIGHT, 'view', '--html', page, self.train], check=True, stdout=subprocess.DEVNULL)
        self.browser.open_url('about:blank')
        self.browser.open_url(page.as_uri())
        self.wait('return batchlightTimeline.counts().items > 0')
        self.browser.keys('i')
        self.wait('return batchlightTimeline.app.model.selected?.event.table === "gpu_idle"')


if __name__ == '__main__':
    BATCHLIGHT = sys.argv.pop(1)
    if webdriver.missing():
        print('skipped:', webdriver.missing())
        sys.exit(77)
    unittest.main()
