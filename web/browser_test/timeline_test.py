#!/usr/bin/env python3
"""The timeline in a real browser, with a made-up run in a file: what is drawn, every key, mouse and touch, search,
tables of a range, notes, the address, hostile names, a phone, and who uses the keyboard alone.

Usage: timeline_test.py SCRIPT STYLE [unittest arguments]: the bundles. Exits with 77 (skipped) when the machine
has no browser."""
import re
import time

import page_text
import timeline_case
from timeline_case import LAYER, LAYERS, SLOW, SLOW_BEGIN, SLOW_WAIT, STEPS, USUAL

# Colours of a line of pixels through the middle of the first row of a track, as runs [first, last, colour].
RUNS = '''
const {stage} = batchlightTimeline.app;
const lane = stage.lanes.find(({block, depth}) => block.track.kind === arguments[0] && depth === 0);
const {canvas, context, scale} = stage.rows;
const {data} = context.getImageData(0, Math.round((lane.y + 2) * scale), canvas.width, 1);
const runs = [];
for (let x = 0; x < canvas.width; ++x) {
  const color = data.slice(4 * x, 4 * x + 4).join(",");
  const last = runs[runs.length - 1];
  if (last && last[2] === color) last[1] = x; else runs.push([x, x, color]);
}
return runs;'''


class Timeline(timeline_case.TimelineCase):
    # --- drawing ---

    def test_every_event_is_in_the_picture(self):
        self.assertIn(f'{self.events:,} events', self.browser.text('.timeline-bar'))
        names = self.browser.texts('.track-name')
        self.assertEqual(names, ['rank 0, train.py (pid 4711)', 'Phases', 'main thread (tid 4711)', 'GPU 0', 'Idle',
                                 'Stream 7', 'Memory', 'Steps'])
        merged = self.run_js('const {model} = batchlightTimeline.app; let sum = 0;'
                             'for (const {track, rows} of [...model.layout.blocks, ...model.layout.pinned])'
                             '  for (let row = 0; row < rows; ++row)'
                             '    for (const {data} of model.first.cache.itemsOf(track.info.id, row, model.whole, model.view.nsPerPixel))'
                             '      sum += data.merged.reduce((a, b) => a + b, 0);'
                             'return sum')
        self.assertEqual(merged, self.events)

    def test_it_opens_within_the_loop(self):
        begin, end = self.opened_at
        steps = self.run_js('const {from, to} = batchlightTimeline.app.model.first.info.steps[0];'
                            'return from.map((start, i) => [start, to[i]])')
        self.assertEqual([i for i, step in enumerate(steps) if step[0] >= begin and step[1] <= end], [2, 3, 4])
        self.assertLess(self.view()[0], begin)  # the key 0
        self.open('#from=1000&to=2000')
        self.assertEqual(self.view(), [1000, 2000])

    def test_pixels_stand_where_the_times_are(self):
        for scale in (1, 2):
            self.browser.resize(1280, 900, scale)
            self.show(SLOW_BEGIN - 200_000, SLOW_BEGIN + SLOW_WAIT + 200_000)
            runs = [run for run in self.run_js(RUNS, 'phases') if run[2] != '255,255,255,255' and run[2] != '0,0,0,0']
            widest = max(runs, key=lambda run: run[1] - run[0])
            self.assertAlmostEqual(widest[0], self.x_of(SLOW_BEGIN) * scale, delta=1.5)
            self.assertAlmostEqual(widest[1] + 2, self.x_of(SLOW_BEGIN + SLOW_WAIT) * scale, delta=1.5)
            self.assertGreater(len({run[2] for run in runs}), 2)  # phases have colours of their own

    def test_labels_stay_in_view_and_names_are_text(self):
        self.show(SLOW_BEGIN + 100_000, SLOW_BEGIN + 300_000)
        self.assertGreaterEqual(self.run_js('return batchlightTimeline.counts().labels'), 3)
        self.assertEqual(self.run_js('return document.querySelectorAll("img").length'), 0)
        self.assertGreater(self.run_js('return batchlightTimeline.counts().lanes'), 8)

    def test_both_themes_and_a_choice(self):
        light = self.run_js(RUNS, 'thread')[0]
        self.browser.prefer(color_scheme='dark', reduced_motion='reduce')
        self.browser.wait_frames(3)
        self.assertNotEqual(self.run_js(RUNS, 'thread')[0], light)

    def test_an_empty_canvas_is_not_drawn_and_still_hears_the_pointer(self):
        opacity = ('const {model, stage} = batchlightTimeline.app; const {canvas} = stage.over;'
                   'return canvas.style.opacity === (model.hover || model.selected ? "" : "0")')
        self.wait(opacity)
        self.show(SLOW_BEGIN - LAYER, SLOW_BEGIN + SLOW_WAIT + LAYER)
        self.browser.click_at(self.left() + self.x_of(SLOW_BEGIN + LAYER), self.lane_y('phases'))
        self.wait('return batchlightTimeline.app.model.selected')
        self.wait(opacity)
        self.assertEqual(self.run_js('return batchlightTimeline.app.stage.over.canvas.style.opacity'), '')

    def test_every_pixel_of_the_rows_is_opaque(self):
        for width, height in ((1280, 900), (900, 700)):
            self.browser.resize(width, height)
            self.frame()
            self.assertTrue(self.run_js(
                'const {canvas, context} = batchlightTimeline.app.stage.rows;'
                'const {data} = context.getImageData(0, 0, canvas.width, canvas.height);'
                'const last = data.length - 4;'  # where no row is, the ground shows
                'return data.every((value, i) => i % 4 < 3 || value === 255) && data[last] + data[last + 1] + data[last + 2] > 0'))

    # --- moving ---

    def test_wheel_zooms_at_the_pointer(self):
        before = self.view()
        x, y = self.left() + 400, self.lane_y('thread')
        self.browser.wheel(x, y, 0, -240, ctrl=True)
        self.wait('return batchlightTimeline.app.model.view.to < arguments[0]', before[1])
        after = self.view()
        at = lambda view: view[0] + (x - self.left()) / self.run_js('return batchlightTimeline.app.model.view.width') * (view[1] - view[0])
        self.assertAlmostEqual(at(before), at(after), delta=(after[1] - after[0]) / 500)
        self.browser.wheel(x, y, 0, 200, shift=True)
        self.wait('return batchlightTimeline.app.model.view.from > arguments[0]', after[0])

    def test_the_strip_on_top_goes_anywhere(self):
        whole = self.view()
        self.press('w', 'w', 'w')
        near = self.view()
        self.browser.drag('.minimap', 0.25, 0.75)
        begin, end = self.view()
        self.assertAlmostEqual(end - begin, near[1] - near[0], delta=1)
        self.assertAlmostEqual((begin + end) / 2, whole[0] + 0.75 * (whole[1] - whole[0]), delta=(whole[1] - whole[0]) / 50)

    def test_keys_move(self):
        whole = self.view()
        self.press('w', 'w')
        near = self.view()
        self.assertLess(near[1] - near[0], (whole[1] - whole[0]) / 2)
        self.press('d')
        self.assertGreater(self.view()[0], near[0])
        self.press('a', 'a')
        self.assertLess(self.view()[0], near[0])
        self.press('s')
        self.assertGreater(self.view()[1] - self.view()[0], near[1] - near[0])
        self.press('End')
        self.assertEqual(self.view()[1], whole[1])
        self.press('Home')
        self.assertEqual(self.view()[0], whole[0])
        self.press('0')
        self.assertEqual(self.view(), whole)

    def test_soft_moves_arrive(self):
        self.browser.prefer(color_scheme='light', reduced_motion='no-preference')
        self.open()
        self.press('w')
        goal = self.run_js('const {from, to} = batchlightTimeline.app.motion.goal; return [from, to]')
        self.wait('const {view} = batchlightTimeline.app.model; return view.from === arguments[0] && view.to === arguments[1]', *goal)

    # --- events ---

    def test_arrows_walk_and_the_line_says_it(self):
        self.show(SLOW_BEGIN + SLOW_WAIT + LAYER, SLOW_BEGIN + SLOW_WAIT + 3 * LAYER)
        x = self.x_of(SLOW_BEGIN + SLOW_WAIT + LAYER + 3_000)
        self.browser.click_at(self.left() + x, self.lane_y('thread', 2))
        self.wait('return batchlightTimeline.app.model.selected')
        self.assertEqual(self.selected()[0], 'aten::linear')
        self.press('Right')
        self.wait('return batchlightTimeline.app.model.selected.event.name === "aten::layer_norm"')
        self.assertRegex(self.browser.text('.status'), r'^aten::layer_norm, 6\.00 µs, at .*, step 20, main thread .*, row 3$')
        self.press('Left')
        self.wait('return batchlightTimeline.app.model.selected.event.name === "aten::linear"')
        self.press('Up')
        self.wait('return batchlightTimeline.app.model.selected.event.name === "encoder.layers.1"')
        self.press('Down')
        self.wait('return batchlightTimeline.app.model.selected.event.depth === 2')
        self.press('Escape')
        self.wait('return batchlightTimeline.app.model.selected === null')

    def test_the_longest_gap_and_its_cause(self):
        self.select_longest_gap()
        self.assertEqual(self.selected()[:3], ['waits for data loading', SLOW_BEGIN, SLOW_BEGIN + SLOW_WAIT])
        self.assertIn(f'{SLOW}, 0 ns after its start', self.browser.text('.event-panel'))
        # The thread is what explains it, wherever its rows are.
        self.wait('return document.querySelector(".meanwhile") !== null')
        self.assertIn('main thread (tid 4711): DataLoader.__next__', self.browser.text('.meanwhile'))
        self.assertIn('100.0 % of the gap', self.browser.text('.meanwhile'))
        self.press('i')
        self.wait('return batchlightTimeline.app.model.selected.event.to - batchlightTimeline.app.model.selected.event.from === arguments[0]',
                  2 * LAYER)
        begin = self.selected()[1]
        self.press('g')
        self.wait('return batchlightTimeline.app.model.selected.event.from > arguments[0]', begin)
        self.press('Shift+g')
        self.wait('return batchlightTimeline.app.model.selected.event.from === arguments[0]', begin)

    def test_the_longest_gap_comes_again_after_escape(self):
        self.select_longest_gap()
        self.press('i')
        self.wait('return batchlightTimeline.app.model.selected.event.from !== arguments[0]', SLOW_BEGIN)
        self.press('Escape')
        self.wait('return batchlightTimeline.app.model.selected === null')
        self.select_longest_gap()
        self.assertEqual(self.selected()[1], SLOW_BEGIN)

    def test_next_and_longest_of_a_name(self):
        self.run_js('batchlightTimeline.app.actions.find.next({text: "gelu"}, 1)')
        self.wait('return batchlightTimeline.app.model.selected?.event.name === "aten::gelu"')
        first = self.selected()
        self.press('n')
        self.wait('return batchlightTimeline.app.model.selected.event.from > arguments[0]', first[1])
        self.press('Shift+n')
        self.wait('return batchlightTimeline.app.model.selected.event.from === arguments[0]', first[1])
        self.press('l')
        self.wait('const {event} = batchlightTimeline.app.model.selected; return event.to - event.from === 12000')

    # --- search, range, notes ---

    def test_search_dims_the_rest_and_enter_walks(self):
        self.press('/')
        self.browser.type('.search', 'linear')
        self.wait('return batchlightTimeline.app.model.found?.events === arguments[0]', STEPS * LAYERS * 2)
        self.assertIn('aten::linear', self.browser.text('.search-panel'))
        self.press('Enter')
        self.wait('return batchlightTimeline.app.model.selected?.event.name === "aten::linear"')
        first = self.selected()[1]
        self.press('Enter')
        self.wait('return batchlightTimeline.app.model.selected.event.from > arguments[0]', first)
        self.press('Shift+Enter')
        self.wait('return batchlightTimeline.app.model.selected.event.from === arguments[0]', first)
        self.press('Escape')
        self.wait('return batchlightTimeline.app.model.found === null && document.activeElement.className === "region"')

    def test_a_dragged_range_sticks_to_events_and_is_summed(self):
        self.show(SLOW_BEGIN - 500_000, SLOW_BEGIN + SLOW_WAIT + 500_000)
        y = self.lane_y('idle')
        self.browser.drag_between((self.left() + self.x_of(SLOW_BEGIN) - 3, y), (self.left() + self.x_of(SLOW_BEGIN + SLOW_WAIT) - 4, y))
        self.wait('const {range} = batchlightTimeline.app.model;'
                  'return range.from === arguments[0] && range.to === arguments[1]', SLOW_BEGIN, SLOW_BEGIN + SLOW_WAIT)
        self.wait('return document.querySelector(".range-panel table") !== null')
        tabs = self.browser.texts('.range-panel [role=tab]')
        self.assertEqual(tabs, ['Phases of the steps', 'Idle GPU by cause', 'Calls on the CPU'])  # no kernel ran
        self.browser.click('.range-panel [role=tab]:nth-child(2)')
        self.assertIn('waits for data loading', self.browser.text('.range-panel [role=tabpanel]:not(.hidden-tab) tbody tr'))
        self.press('Escape')

    def test_the_tables_of_a_step(self):
        self.select_longest_gap()
        self.press('t')
        self.wait('return document.querySelector(".range-panel table") !== null')
        rows = self.browser.texts('.range-panel [role=tabpanel]:not(.hidden-tab) tbody tr')
        cells = {re.split(r'\t', row)[0]: re.split(r'\t', row)[1:] for row in rows}
        self.assertEqual(cells, {'data loading': ['1', '1.6000', '1.6000'], 'backward': ['1', '0.9600', '0.9600'],
                                 'forward': ['1', '0.4800', '0.4800']})
        self.assertIn(f'Step {SLOW}', self.browser.text('.range-head'))

    def test_notes(self):
        self.select_longest_gap()
        self.press('Shift+m')
        self.browser.wait_for('.notes input')
        self.press('s', 'l', 'o', 'w', 'Enter')
        self.assertEqual(self.run_js('return batchlightTimeline.app.model.notes.map(({text, from, table}) => [text, from, table])'),
                         [['slow', SLOW_BEGIN, 'gpu_idle']])
        # One before it has the keys, too.
        self.run_js('const {app} = batchlightTimeline; app.actions.clear(); app.model.setRange({from: 1000, to: 2000});'
                    'document.querySelector(".region").focus()')
        self.press('Shift+m', 'a', 'Enter')
        self.assertEqual(self.run_js('return batchlightTimeline.app.model.notes.map(({text, from}) => [text, from])'),
                         [['a', 1000], ['slow', SLOW_BEGIN]])
        for left in (1, 0):
            self.browser.click('.notes li button:last-child')
            self.assertEqual(self.run_js('return batchlightTimeline.app.model.notes.length'), left)

    # --- address ---

    def test_an_address_leads_to_the_same_place(self):
        self.select_longest_gap()
        self.press('r')
        self.wait('return /sel=gpu_idle:/.test(location.hash) && /range=/.test(location.hash)')
        fragment, view = self.run_js('return location.hash'), self.view()
        self.open(fragment)
        self.wait('return batchlightTimeline.app.model.selected !== null')
        self.assertEqual([round(time) for time in self.view()], [round(time) for time in view])
        self.assertEqual(self.selected()[1], SLOW_BEGIN)
        self.assertEqual(self.run_js('return batchlightTimeline.app.model.range.to'), SLOW_BEGIN + SLOW_WAIT)

    def test_links_from_elsewhere(self):
        self.open(f'#step={SLOW}')
        self.wait('return document.querySelector(".range-head") !== null')
        begin, end = self.view()
        self.assertLess(begin, SLOW_BEGIN)
        self.assertGreater(end, SLOW_BEGIN + SLOW_WAIT)
        self.open(f'#at={SLOW_BEGIN + 1000}')
        self.assertAlmostEqual(sum(self.view()) / 2, SLOW_BEGIN + 1000, delta=1)
        self.open('#find=gelu')
        self.wait('return batchlightTimeline.app.model.selected?.event.name === "aten::gelu"')
        self.open('#hash=0123456789abcdef&from=5&to=10')
        self.assertIn('another recording', self.browser.text('.warning'))
        self.assertEqual(self.view()[0], 0)

    def test_another_place_takes_back_what_was_said_of_the_one_before(self):
        self.open('#find=nothing-of-this-name')
        self.wait('return document.querySelector(".status").innerText === "There are no events of this name."')
        self.run_js('location.hash = "#step=3"')
        self.wait('return batchlightTimeline.app.model.range?.steps?.first === 3')
        self.assertEqual(self.browser.text('.status'), '')

    def test_what_is_said_of_the_first_picture_ends_with_it(self):
        self.open('#pin=0')
        self.wait('return /as long as most/.test(document.querySelector(".status").innerText)')
        self.show(0, USUAL)
        self.assertEqual(self.browser.text('.status'), '')

    def test_what_a_search_had_to_say_is_over_with_the_next(self):
        self.browser.type('.search', 'step 99')
        self.press('Enter')
        self.wait('return document.querySelector(".warning") !== null')
        self.browser.type('.search', 'gelu')
        self.assertEqual(self.browser.run('return document.querySelectorAll(".warning").length'), 0)
        self.assertEqual(self.browser.text('.status'), '')

    # --- a file with a part of a run ---

    HOLDS = 'it holds steps 2 to 9. batchlight view made_up.batchlight shows all.'

    def test_a_step_that_the_file_lacks_is_not_another_one(self):
        self.open('#step=20', self.part)
        self.assertEqual(self.browser.text('.warning'), f'This file does not hold step 20: {self.HOLDS}')
        self.assertIsNone(self.run_js('return batchlightTimeline.app.model.range'))
        self.assertIn('steps 2 to 9', self.browser.text('.banner'))
        self.open('#step=99', self.part)
        self.assertEqual(self.browser.text('.warning'), 'This recording has no step 99: its steps go from 0 to 39.')
        self.open('#step=5', self.part)
        self.wait('return batchlightTimeline.app.model.range?.steps?.first === 5')
        self.assertEqual(self.browser.run('return document.querySelectorAll(".warning").length'), 0)
        self.open(f'#at={30 * USUAL}', self.part)
        self.assertRegex(self.browser.text('.warning'), r'^The events of this file, steps 2 to 9, lie between \d+ ms and \d+ ms\.$')

    def test_a_search_says_what_the_file_lacks(self):
        self.open('', self.part)
        self.browser.type('.search', 'step 20')
        self.wait('return document.querySelector(".search-panel [role=status]")?.innerText.includes("step 20")')
        self.assertEqual(self.browser.text('.search-panel'), f'This file does not hold step 20: {self.HOLDS}')
        self.press('Enter')
        self.wait('return document.querySelector(".warning") !== null')
        self.assertEqual(self.browser.text('.warning'), f'This file does not hold step 20: {self.HOLDS}')
        self.browser.type('.search', 'torch.nn')
        self.wait('return document.querySelector(".search-panel").innerText.startsWith("No event")')
        self.assertEqual(self.browser.text('.search-panel'), 'No event in this file has this in its name: it holds steps 2 to 9; '
                         'the names with most time are "steady", "backward" and "loss.backward".')

    def ask_range(self, first, last, fields='step'):
        self.browser.click('#dock-tab-range')
        labels = ('first step', 'last step') if fields == 'step' else ('from, ms', 'to, ms')
        for label, text in zip(labels, (first, last)):
            self.run_js('document.querySelector(`[aria-label="${arguments[0]}"]`).value = arguments[1]', label, text)
        self.run_js('document.querySelector(`[aria-label="${arguments[0]}"]`).form.requestSubmit()', labels[0])

    def test_sums_of_a_range_say_of_which_steps_they_are(self):
        self.open('', self.part)
        self.ask_range('20', '')
        self.assertEqual(self.browser.text('.range-panel .bad'), f'This file does not hold step 20: {self.HOLDS}')
        self.ask_range('1', '39')
        self.wait('return document.querySelector(".range-panel table") !== null')
        self.assertEqual(self.browser.text('.range-panel .held'), 'Sums of 8 of these 39 steps, 2 to 9: this file holds no others.')
        cells = self.browser.text('.range-panel [role=tabpanel]:not(.hidden-tab) tbody tr').split('\t')
        self.assertEqual(cells[:2], ['backward', '8'])
        self.ask_range('3', '4')
        self.wait('return document.querySelector(".range-panel .held").hidden')
        self.ask_range('50', '60', 'time')
        self.wait('return document.querySelector(".range-panel .bad") !== null')
        self.assertRegex(self.browser.text('.range-panel .bad'), '^This file holds nothing of this time: it holds .*, steps 2 to 9')

    # --- the range that is typed ---

    def test_a_range_that_is_typed_comes_into_view(self):
        self.show(0, USUAL)
        self.ask_range('30', '31')
        self.wait('const {view, range} = batchlightTimeline.app.model; return range && view.from <= range.from && view.to >= range.to')
        self.wait('return document.querySelector(".range-panel table") !== null')  # its answer is not to come later
        self.ask_range('', '')
        self.assertEqual(self.browser.text('.range-panel .bad'), 'Type the number of a step, or of the first and the last.')
        self.ask_range('abc', '1.5')
        self.assertIn('abc” is no step: type a whole number', self.browser.text('.range-panel .bad'))
        self.ask_range('16600 ms', '3', 'time')
        self.assertIn('16600 ms” is no time', self.browser.text('.range-panel .bad'))

    # --- the mark ---

    def test_a_mark_can_be_taken_away(self):
        mark = 'return batchlightTimeline.app.model.mark'
        for away in ('m', 'Escape'):
            self.select_longest_gap()
            self.press('m')
            self.assertEqual(self.run_js(mark), {'from': SLOW_BEGIN, 'to': SLOW_BEGIN + SLOW_WAIT})
            if away == 'Escape':
                self.press('Escape')
                self.assertIsNotNone(self.run_js(mark))
            self.press(away)
            self.assertIsNone(self.run_js(mark))
            self.press('Escape')
            self.open()

    # --- tracks ---

    def test_escape_leaves_the_filter_of_tracks(self):
        self.press('Ctrl+p')
        self.press('g', 'p', 'u')
        self.wait('return batchlightTimeline.app.model.filter === "gpu"')
        self.press('Escape')
        self.assertEqual(self.run_js('return [batchlightTimeline.app.model.filter, document.activeElement.className]'), ['', 'region'])
        begin, end = self.view()
        self.press('w')
        self.wait('const {view} = batchlightTimeline.app.model; return view.to - view.from < arguments[0]', end - begin)

    def test_tracks_fold_pin_and_filter(self):
        self.browser.click('[aria-label="Rows of main thread (tid 4711)"]')
        self.wait('return batchlightTimeline.app.stage.lanes.filter(({block}) => block.track.kind === "thread").length === 1')
        self.browser.click('[aria-label="Keep Stream 7 on top"]')
        self.wait('return batchlightTimeline.app.stage.lanes[1].block.track.kind === "stream"')
        self.browser.type('.track-filter', 'gpu idle')
        self.wait('return [...document.querySelectorAll(".list .track-name")].map(e => e.innerText).join() === '
                  '"rank 0, train.py (pid 4711),GPU 0,Idle"')

    def test_a_name_stays_while_its_rows_scroll(self):
        self.browser.click('#dock-tab-range')
        self.run_js('document.querySelector(".dock").style.height = "720px"')  # leaves less than all tracks need
        self.browser.wait_frames(3)
        self.run_js('document.querySelector(".scroller").scrollTop = '
                    'batchlightTimeline.app.model.layout.blocks.find(({track}) => track.kind === "thread").top + 40')
        self.wait('return batchlightTimeline.app.model.scroll > 40')
        self.browser.wait_frames(3)
        name, pinned = self.run_js(
            'const name = [...document.querySelectorAll(".list .track-name")].find(({innerText}) => /main thread/.test(innerText));'
            'return [name.getBoundingClientRect().top, document.querySelector(".track-names .pinned").getBoundingClientRect().bottom]')
        self.assertGreaterEqual(name, pinned - 2)

    # --- everybody ---

    def test_text_can_be_read_on_its_ground(self):
        self.select_longest_gap()
        self.press('t')
        for scheme in ('light', 'dark'):
            self.browser.prefer(color_scheme=scheme, reduced_motion='reduce')
            for tab in ('event', 'range', 'search', 'notes', 'events'):
                self.browser.click(f'#dock-tab-{tab}')
                self.assertEqual(page_text.hard_to_read(self.browser, 'body *'), [], f'{scheme}, {tab}')

    def test_the_picture_in_words(self):
        self.show(SLOW_BEGIN, SLOW_BEGIN + SLOW_WAIT)
        self.browser.click('#dock-tab-events')
        rows = self.wait('const rows = [...document.querySelectorAll(".events-box tbody tr")];'
                         'return rows.length > 0 && rows.map(({cells}) => cells[0].innerText)')
        self.assertIn('waits for data loading', rows)
        self.assertEqual(self.run_js('return +document.querySelector(".events-box table").getAttribute("aria-rowcount") - 1'), len(rows))
        # From afar the times are rounded, and said so.
        self.show(0, 100 * (SLOW_BEGIN + SLOW_WAIT))
        words = self.wait('const rows = [...document.querySelectorAll(".events-box tbody tr")].filter(({cells}) => cells[6]?.innerText);'
                          'return rows.length > 0 && rows.map(({cells}) => cells[2].innerText)')
        self.assertTrue(all(word.startswith(('about ', 'under ')) for word in words), words)
        # So near that a pixel is no more than the clock tells, nothing is.
        self.show(SLOW_BEGIN + SLOW_WAIT - 200, SLOW_BEGIN + SLOW_WAIT + 400)
        self.wait('return document.querySelector(".events-box th:last-child").hidden && document.querySelectorAll(".events-box tbody tr").length > 3')
        self.assertEqual(self.run_js('return Math.max(...[...document.querySelectorAll(".events-box tbody tr")].map(({cells}) => cells.length))'), 6)

    def test_tab_goes_through_all_rows_of_the_picture_in_words(self):
        self.show(SLOW_BEGIN + SLOW_WAIT, SLOW_BEGIN + SLOW_WAIT + 20 * LAYER)
        self.browser.click('#dock-tab-events')
        self.wait('return document.querySelectorAll(".events-box tbody tr").length > 10')
        self.settle()
        time.sleep(0.3)  # what the smaller stage shows is collected
        self.run_js('document.querySelector(".events-box tbody button").focus()')
        for row in range(3, 33):
            self.press('Tab')
            self.browser.wait_frames(2)
            self.assertEqual(self.run_js('return document.activeElement.closest("tr")?.getAttribute("aria-rowindex") ?? document.activeElement.outerHTML.slice(0, 90)'), str(row))

    def test_all_controls_have_names_and_size(self):
        self.select_longest_gap()
        unnamed = self.run_js(
            'return [...document.querySelectorAll("button, input, [tabindex=\'0\']")].filter(e => !e.closest("[hidden], dialog:not([open]), details:not([open]) > :not(summary)"))'
            '.filter(e => !(e.getAttribute("aria-label") || e.innerText || e.closest("label")?.innerText)).map(e => e.outerHTML)')
        self.assertEqual(unnamed, [])
        self.assertEqual(self.run_js('return [...document.querySelectorAll("canvas")].every(c => c.ariaHidden === "true")'), True)
        self.press('?')
        self.browser.wait_for('dialog[open]')
        self.assertIn('the longest event of this name', self.browser.text('dialog'))
        self.press('Escape')

    def test_letters_can_be_turned_off(self):
        self.press('?')
        self.browser.wait_for('dialog[open]')
        self.browser.click('dialog input')
        self.press('Escape')
        whole = self.view()
        self.press('w')
        self.browser.wait_frames(3)
        self.assertEqual(self.view(), whole)
        self.run_js('localStorage.clear()')

    def test_typing_is_not_taken_for_keys(self):
        whole = self.view()
        self.press('/')
        self.browser.type('.search', 'wads')
        self.browser.wait_frames(3)
        self.assertEqual(self.view(), whole)

    def test_a_phone(self):
        self.browser.resize(390, 800)
        self.browser.wait_frames(3)
        self.assertLessEqual(self.run_js('return document.documentElement.scrollWidth'), 390)
        self.assertGreater(self.run_js('return batchlightTimeline.app.model.view.width'), 240)
        before = self.view()
        y = self.lane_y('phases')
        self.browser.pinch((self.left() + 100, y), (self.left() + 160, y), (self.left() + 40, y), (self.left() + 220, y))
        self.wait('const {view} = batchlightTimeline.app.model; return view.to - view.from < arguments[0]', (before[1] - before[0]) * 0.6)


if __name__ == '__main__':
    timeline_case.main()
