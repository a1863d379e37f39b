#!/usr/bin/env python3
"""The timeline behind a server: a run that grows, slow answers, two runs, a server that ends, a wrong token.
The server is made up (made_up_server.ts), so that the page is tested alone.

Usage: timeline_live_test.py SCRIPT STYLE ESBUILD NODE [unittest arguments]. Exits with 77 (skipped) when the machine
has no browser."""
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import timeline_page
import webdriver

SCRIPT = STYLE = ESBUILD = NODE = ''
STEP = timeline_page.LAYER_NS * (2 + 3 * 6) + 1000  # from step to step


class Live(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix='bl-live-')))
        for steps in (20, 30):
            timeline_page.write(SCRIPT, STYLE, cls.folder / f'{steps}.html', steps, 6)
        cls.program = cls.folder / 'server.cjs'
        subprocess.run([ESBUILD, pathlib.Path(__file__).with_name('made_up_server.ts'), '--bundle', '--platform=node', '--format=cjs',
                        f'--outfile={cls.program}', '--log-level=warning'], check=True)
        cls.browser = cls.enterClassContext(webdriver.Browser())

    def setUp(self):
        self.browser.prefer(color_scheme='light', reduced_motion='reduce')
        self.browser.resize(1280, 900)

    def serve(self, *pages, fragment=''):
        self.server = subprocess.Popen([NODE, self.program, SCRIPT, STYLE, *(self.folder / f'{page}.html' for page in pages)],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.server.stdout.close)
        self.addCleanup(self.server.wait)
        self.addCleanup(self.server.stdin.close)
        self.url = self.server.stdout.readline().strip()
        self.browser.open_url('about:blank')
        self.browser.open_url(self.url + fragment)
        self.wait('return window.batchlightTimeline?.counts()?.items > 0')

    def tell(self, line):
        self.server.stdin.write(line + '\n')
        self.server.stdin.flush()
        self.server.stdout.readline()

    def wait(self, script, *arguments):
        end = time.monotonic() + webdriver.LONG_S
        while time.monotonic() < end:
            if value := self.browser.run(script, *arguments):
                return value
            time.sleep(0.05)
        self.fail(f'never true: {script}; the page says: {self.browser.run("return document.body.innerText")[:2000]}')

    def test_nothing_is_refused_and_the_token_leaves_the_address(self):
        self.serve(20)
        self.assertNotIn('token', self.browser.run('return location.href'))
        self.browser.keys('i')
        self.wait('return batchlightTimeline.app.model.selected?.event.table === "gpu_idle"')
        self.browser.keys('t')
        self.wait('return document.querySelector(".range-panel table") !== null')
        self.assertEqual(self.browser.errors(), [])
        self.browser.open_url(self.url.split('#')[0])  # loaded again: the session has the token
        self.wait('return window.batchlightTimeline?.counts()?.items > 0')

    def test_what_a_counter_was_at_a_moment(self):
        self.serve(20)
        x, y = self.wait('const {stage, model} = batchlightTimeline.app; const {top, left} = document.querySelector(".over").getBoundingClientRect();'
                         'const lane = stage.lanes.find(({block, depth}) => block.track.kind === "memory" && depth === 0);'
                         'return lane && [left + model.view.width / 2, top + lane.y + lane.height / 2]')
        self.browser.click_at(x, y)
        self.assertRegex(self.browser.text('.event-panel'), r'(?s)Memory, weights.*256 MiB at [\d.]+ ms.*Memory')
        self.assertRegex(self.browser.text('.status'), r'^Memory, weights, 256 MiB at [\d.]+ ms$')
        self.assertRegex(self.browser.run('return document.querySelector(".tooltip").innerText'), r'^Memory, weights\s+256 MiB at')
        self.assertEqual(self.browser.run('const {mark} = batchlightTimeline.app.model; return mark.to - mark.from'), 0)
        self.browser.keys('Escape')
        self.assertNotIn('256 MiB', self.browser.text('.event-panel'))
        self.browser.run('const {model, search} = batchlightTimeline.app; model.fold(model.tracks.find(({kind}) => kind === "gpu"), false); search.set("weights")')
        self.wait('return /Values over time: Memory/.test(document.querySelector(".search-panel")?.innerText)')
        self.browser.click('.search-panel button')
        self.wait('return batchlightTimeline.app.stage.lanes.some(({block}) => block.track.kind === "memory")')

    def test_what_is_found_has_its_row_whatever_the_filter_of_tracks_hides(self):
        self.serve(20)
        shown = 'return [...new Set(batchlightTimeline.app.model.layout.blocks.filter(({rows}) => rows > 0).map(({track}) => track.kind))]'
        self.browser.type('.track-filter', 'memory')
        self.assertEqual(self.browser.run(shown), ['memory'])
        self.browser.type('.search', 'gelu')
        self.browser.keys('Enter')
        self.wait('return batchlightTimeline.app.model.selected !== null')
        self.assertEqual(self.browser.run(shown), ['thread', 'memory'])
        self.browser.run('batchlightTimeline.app.stage.region.focus()')
        self.browser.keys('Escape', 'Escape', 'Escape')  # the event, the search, the filter
        self.assertEqual(self.browser.run('return document.querySelector(".track-filter").value'), '')
        self.assertIn('stream', self.browser.run(shown))

    def test_a_note_that_is_begun_before_the_answer_is_of_what_is_found(self):
        """The answer neither takes the field away, whose text would act as keys, nor comes too late for the note."""
        self.serve(20)
        self.browser.keys('i')
        self.wait('return batchlightTimeline.app.model.selected?.event.table === "gpu_idle"')
        first = self.browser.run('return batchlightTimeline.app.model.selected.event.row')
        self.tell('slow 700')
        before = self.browser.run('return batchlightTimeline.app.model.view.span')
        self.browser.keys('g', 'Shift+M', 'w', 'r', 'l')
        found = self.wait('const {selected} = batchlightTimeline.app.model; return selected.event.row !== arguments[0] && selected.event', first)
        self.browser.keys('d')
        self.assertEqual(self.browser.run('return document.querySelector(".dock").dataset.shown'), 'notes')
        self.assertEqual(self.browser.run('return document.activeElement.value'), 'wrld')
        self.browser.keys('Enter')
        note = self.browser.run('return batchlightTimeline.app.model.notes.at(-1)')
        self.assertEqual([note[key] for key in ('text', 'table', 'row', 'from', 'to')],
                         ['wrld', found['table'], found['row'], found['from'], found['to']])
        self.assertNotEqual(self.browser.run('return batchlightTimeline.app.model.view.span'), before)
        # Without anything on its way a note is of the selected event, and stays.
        self.tell('slow 0')
        self.browser.keys('i')
        self.wait('return batchlightTimeline.app.model.selected?.event.row === arguments[0]', first)
        self.assertEqual(self.browser.run('return batchlightTimeline.app.model.notes.at(-1).row'), found['row'])
        self.assertEqual(self.browser.run('return document.querySelector(".dock").dataset.shown'), 'event')

    def test_names_of_tracks_are_whole_on_a_phone(self):
        self.browser.resize(390, 844)
        self.addCleanup(self.browser.resize, 1280, 900)
        self.serve(20)
        names = self.browser.run('return [...document.querySelectorAll(".track-name")].map((name) => '
                                 '[name.textContent, name.scrollWidth <= name.clientWidth && name.scrollHeight <= name.clientHeight + 1])')
        self.assertIn('main thread (tid 4711)', [name for name, _ in names])
        self.assertEqual([name for name, whole in names if not whole], [])

    def test_a_growing_run_is_followed(self):
        self.serve(20)
        self.tell('growing yes')
        self.browser.open_url('about:blank')
        self.browser.open_url(self.url)
        self.wait('return window.batchlightTimeline?.counts()?.items > 0')
        self.assertEqual(self.browser.run('return batchlightTimeline.app.model.first.info.steps[0].count'), 20)
        head = self.browser.text('.timeline-bar .span')
        bars = 'return Math.max(...[...document.querySelectorAll(".step-strip .phase")].map((path) => path.getAttribute("d").split("M").length - 1))'
        self.assertEqual(self.browser.run(bars), 18)  # that count
        self.assertRegex(self.browser.text('.step-head'), r'last 800 µs')
        self.browser.run('batchlightTimeline.app.search.set("aten::gelu")')
        found = self.wait('return batchlightTimeline.app.model.found?.events')
        begin = time.monotonic()
        self.tell(f'next {self.folder / "30.html"}')
        self.wait('return batchlightTimeline.app.model.found.events > arguments[0]', found)  # a search goes on, too
        self.wait('return batchlightTimeline.app.model.first.info.steps[0].count === 30')
        self.wait('const {view, whole} = batchlightTimeline.app.model; return view.to === whole.to')  # who sees all goes along
        self.assertLess(time.monotonic() - begin, webdriver.LONG_S)
        events = self.browser.run('return batchlightTimeline.app.model.first.info.events.toLocaleString("en")')
        self.assertIn(f'{events} events', self.browser.text('.timeline-bar .span'))
        self.assertNotEqual(self.browser.text('.timeline-bar .span'), head)
        # So do the chart of step times, and what is said of it.
        self.assertEqual(self.browser.run(bars), 28)
        self.assertEqual(self.browser.run('return document.querySelector(".step-strip").getAttribute("aria-valuemax")'), '29')
        self.wait('const {model} = batchlightTimeline.app; return model.first.cache.itemsOf(1, 0, model.whole, 1e5)'
                  '.some(({data}) => data.count > 0 && data.from + data.step * data.start[data.count - 1] > arguments[0])', 25 * STEP)
        self.tell('growing no')
        self.tell(f'next {self.folder / "30.html"}')
        self.wait('return batchlightTimeline.app.model.first.info.growing === false')
        # 409: what was asked of the run before it grew (docs/design/0016-timeline.md) is asked again.
        self.assertEqual([error for error in self.browser.errors() if '409 (Conflict)' not in error], [])

    def test_a_page_that_is_loaded_again_still_follows(self):
        self.serve(20)
        self.tell('growing yes')
        self.browser.open_url('about:blank')
        self.browser.open_url(self.url)
        address = self.wait('return location.hash.includes("hash=") && location.href')
        # Numbers of tracks and of rows move as the run goes on: a link has none.
        self.browser.keys('i')
        self.wait('return batchlightTimeline.app.model.selected !== null')
        self.browser.keys('w')
        self.wait('return location.hash.includes("from=")')
        self.assertNotRegex(self.browser.run('return location.hash'), 'pin=|open=|sel=')
        self.browser.open_url('about:blank')
        self.tell(f'next {self.folder / "30.html"}')  # it goes on meanwhile
        self.browser.open_url(address)
        self.wait('return window.batchlightTimeline?.counts()?.items > 0')
        view, whole = self.browser.run('const {view, whole} = batchlightTimeline.app.model; return [[view.from, view.to], [whole.from, whole.to]]')
        self.assertEqual(view, whole)

    def test_a_long_reading_says_how_far_it_is_and_shows_tracks_as_they_come(self):
        self.serve(20)
        self.tell('reading 0.4')
        self.tell('partial yes')
        self.browser.open_url('about:blank')
        self.browser.open_url(self.url + '&step=10')
        self.wait('return document.querySelector(".opening progress")?.value === 0.4')
        self.assertIn(f'reading {self.folder}/20.html, 40 %', self.browser.text('.opening'))
        self.tell('reading 1')
        # What is recorded is there, and the page says what is to come.
        self.wait('return window.batchlightTimeline?.counts()?.items > 0')
        kinds = 'return [...new Set(batchlightTimeline.app.model.tracks.map(({kind}) => kind))]'
        self.assertEqual(self.browser.run(kinds), ['process', 'thread', 'gpu', 'stream', 'memory'])
        self.assertIn('finding steps, phases and gaps', self.browser.text('.working'))
        self.browser.run('const {model} = batchlightTimeline.app; model.fold(model.tracks.find(({kind}) => kind === "thread"), false)')
        self.tell('partial no')
        self.wait('return batchlightTimeline.app.model.tracks.some(({kind}) => kind === "idle")')
        self.assertTrue(self.browser.run('return document.querySelector(".working").hidden'))
        # The link's step, pinned steps, and what the reader folded.
        self.wait('return /Step 10/.test(document.querySelector(".range-head")?.innerText)')
        self.assertEqual(self.browser.run('const {model} = batchlightTimeline.app; return model.tracks'
                                          '.filter(({id}) => model.pinned.includes(id)).map(({kind}) => kind)'), ['steps'])
        self.assertFalse(self.browser.run('const {model} = batchlightTimeline.app;'
                                          'return model.isOpen(model.tracks.find(({kind}) => kind === "thread"))'))

    def test_what_is_found_later_is_gone_to_whatever_moves(self):
        self.browser.prefer(color_scheme='light', reduced_motion='no-preference')
        self.serve(20)
        for place, steps in (('&step=10', 1), ('', 3)):
            self.tell('partial yes')
            self.browser.open_url('about:blank')
            self.browser.open_url(self.url + place)
            self.wait('return window.batchlightTimeline?.counts()?.items > 0')
            time.sleep(0.6)  # the address waits as well
            self.assertEqual('step=10' in self.browser.run('return location.hash'), place != '')
            self.tell('partial no')
            self.wait('return batchlightTimeline.app.model.first.info.complete')
            time.sleep(1)  # a soft move would be over
            shown = self.browser.run('const {view, first} = batchlightTimeline.app.model; const {from, to} = first.info.steps[0];'
                                     'return from.filter((start, i) => start >= view.from && to[i] <= view.to).length')
            self.assertEqual(shown, steps, place)

    def test_a_picture_that_was_chosen_while_it_was_read_anew_stays(self):
        """Several questions may hear at once that all is to be read anew, and the reader may move meanwhile."""
        self.serve(20)
        self.tell('partial yes')
        self.browser.open_url('about:blank')
        self.browser.open_url(self.url)
        self.wait('return window.batchlightTimeline?.counts()?.items > 0')
        self.tell('slow 500')
        self.tell('partial no')
        self.browser.run_async('const [done] = arguments; const {live} = batchlightTimeline.app; const one = live.renew();'
                               'setTimeout(() => Promise.all([one, live.renew()]).then(() => done(null)), 250)')
        shown = 'const {view, whole} = batchlightTimeline.app.model; return [view.from > whole.from, view.to < whole.to]'
        self.assertEqual(self.browser.run(shown), [True, True])
        self.browser.run('const {motion, model} = batchlightTimeline.app; motion.jump(model.whole)')
        moved = [4 * STEP, 5 * STEP]
        self.browser.run_async('const [from, to, done] = arguments; const {live, motion} = batchlightTimeline.app;'
                               'live.renew().then(() => done(null)); setTimeout(() => motion.jump({from, to}), 100)', *moved)
        self.assertEqual(self.browser.run('const {view} = batchlightTimeline.app.model; return [view.from, view.to]'), moved)

    def test_old_data_stay_while_new_come(self):
        self.serve(20)
        self.tell('slow 700')
        self.browser.run('batchlightTimeline.app.model.show({from: arguments[0], to: arguments[1]})', 4 * STEP, 5 * STEP)
        self.browser.wait_frames(3)
        self.assertGreater(self.browser.run('return batchlightTimeline.counts().items'), 0)
        self.assertTrue(self.browser.run('return batchlightTimeline.app.model.first.cache.busy'))
        self.tell('slow 0')
        self.wait('const {model} = batchlightTimeline.app;'
                  'return model.first.cache.itemsOf(3, 2, model.view.span, model.view.nsPerPixel)[0]?.data.step <= model.view.nsPerPixel')

    def test_two_runs(self):
        self.serve(20, 30)
        runs = self.browser.run('return batchlightTimeline.app.model.tracks.filter(({kind}) => kind === "steps").map(({run}) => run)')
        self.assertEqual(runs, [0, 1])
        self.wait('return /^aligned at step 11 of A/.test(document.querySelector(".compare-panel [role=status]")?.innerText)')
        begin, end = self.browser.run('const {view, first} = batchlightTimeline.app.model; const {from, to} = first.info.steps[0];'
                                      'return [(from[11] - view.from) / (to[11] - from[11]), (view.to - to[11]) / (to[11] - from[11])]')
        self.assertAlmostEqual(begin, 1, places=2)
        self.assertAlmostEqual(end, 1, places=2)
        at_ten = 'const input = document.querySelector(".compare-panel input"); input.value = "10"; input.form.requestSubmit()'
        self.browser.run(at_ten)
        self.browser.run('document.querySelector(".compare-panel input").value = ""; batchlightTimeline.app.stage.region.focus()')
        self.browser.keys('0')
        # Where they are aligned elsewhere, both together are longer: all of it stays in the picture.
        before = self.browser.run('return batchlightTimeline.app.model.whole.to')
        self.browser.type('.compare-panel input', '12')
        self.browser.keys('Enter')
        self.wait('return batchlightTimeline.app.model.whole.to > arguments[0]', before)
        self.wait('const {view, whole} = batchlightTimeline.app.model; return view.from === whole.from && view.to === whole.to')
        self.browser.run(at_ten)
        self.assertRegex(self.browser.text('.compare-panel .heads'), r'(?s)^A\s.* events, 20 steps, median .*B\s.* events, 30 steps, median')
        self.browser.run('batchlightTimeline.app.range.showSteps(10, 10); batchlightTimeline.app.dock.show("range")')
        heads = self.wait('const heads = [...document.querySelectorAll(".range-panel [role=tabpanel]:not(.hidden-tab) .column-name")];'
                          'return heads.length > 0 && heads.map(e => e.innerText)')
        self.assertEqual(heads[:4], ['Name', 'Events, A', 'Events, B', 'Events, B - A'])
        shift = self.browser.run('return batchlightTimeline.app.model.runs[1].offset')
        self.assertLess(shift, 40 * timeline_page.LAYER_NS)

    def serve_two(self, fragment=''):
        self.serve(20, 30, fragment=fragment)
        self.wait('return /^aligned at step/.test(document.querySelector(".compare-panel [role=status]")?.innerText)')

    def begins(self, step):
        """Where a step of A and the same of B begin on the axis."""
        return self.browser.run('return batchlightTimeline.app.model.runs.map(({info, offset}) => info.steps[0].from[arguments[0]] + offset)', step)

    def test_a_search_covers_both_runs(self):
        self.serve_two()
        self.browser.type('.search', 'aten::linear')
        text = self.wait('return document.querySelector(".search-panel tbody") && document.querySelector(".search-panel").innerText')
        self.assertRegex(text, r'A: 240 events, .*B: 360 events, .* those of both')
        self.assertEqual([self.browser.run('return document.querySelectorAll(".search-panel tbody tr")[arguments[0]].cells[0].innerText', row)
                          for row in (0, 1)], ['A', 'B'])
        self.assertEqual(self.browser.run('return batchlightTimeline.app.model.found.density.map(({bins}) => bins.reduce((a, b) => a + b))'), [240, 360])
        self.browser.run('[...document.querySelectorAll(".search-panel tbody button")].find(one => one.ariaLabel === "Longest aten::linear of B").click()')
        self.wait('return batchlightTimeline.app.model.selected?.run.index === 1')
        # What a link names as well, and no run has.
        self.browser.run('batchlightTimeline.app.search.set("nowhere")')
        self.wait('return /^No event of either run has this in its name; of A /.test(document.querySelector(".search-panel").innerText)')

    def test_the_longest_gap_of_two_runs(self):
        self.serve_two()
        self.browser.run('batchlightTimeline.app.stage.region.focus()')
        self.browser.keys('i')
        self.wait('return batchlightTimeline.app.model.selected?.event.table === "gpu_idle"')
        self.wait('return /^longest of 1[0-9] gaps of A .*; the longest of B: |^longest of 2[0-9] gaps of B .*; the longest of A: '
                  '/.test([...document.querySelectorAll(".facts dd")].map(({innerText}) => innerText).find((text) => /gaps of/.test(text)))')
        # In the run of the selected event from its own longest.
        self.browser.run('const {model, actions} = batchlightTimeline.app; actions.go(model.runs[1], model.runs[1].info.steps[0].first_ref + 3)')
        self.wait('const {selected} = batchlightTimeline.app.model; return selected?.run.index === 1 && selected.event.table === "steps"')
        self.browser.keys('i')
        self.wait('return /longest of 28 gaps of B that begin in the 28 steps/.test(document.querySelector(".facts").innerText)')
        self.assertRegex(self.browser.text('.facts'), r'(?m)^longest of 28 gaps of B')
        for _ in range(27):
            before = self.browser.run('return batchlightTimeline.app.model.selected.event.ref')
            self.browser.keys('i')
            self.wait('return batchlightTimeline.app.model.selected.event.ref !== arguments[0]', before)
        self.assertRegex(self.browser.text('.facts'), r'(?m)^28th longest of 28 gaps of B')
        self.browser.keys('i')
        self.wait('return /^longest of 28 gaps of B/m.test(document.querySelector(".facts").innerText)')

    def test_a_note_of_the_second_run_is_its_own(self):
        self.serve_two('&step=12')
        self.browser.run('const {model, actions} = batchlightTimeline.app; actions.go(model.runs[1], model.runs[1].info.steps[0].first_ref + 12)')
        self.wait('return batchlightTimeline.app.model.selected?.run.index === 1')
        begin, row, offset = self.browser.run('const {event, run} = batchlightTimeline.app.model.selected; return [event.from, event.row, run.offset]')
        self.assertNotEqual(offset, 0)
        self.browser.keys('Shift+m', 'h', 'i', 'Enter')
        notes = ('return Promise.all(batchlightTimeline.app.model.runs.map(({source}) => source.call("notes")))'
                 '.then((all) => all.map(({notes}) => notes.map(({text, from, table, row}) => [text, from, table, row])))')
        end = time.monotonic() + webdriver.LONG_S
        while time.monotonic() < end and self.browser.run(notes) == [[], []]:
            time.sleep(0.05)
        self.assertEqual(self.browser.run(notes), [[], [['hi', begin, 'steps', row]]])
        # What each run's file has is read, and stands on the axis where its event does.
        self.browser.run('return batchlightTimeline.app.model.first.source.call("notes_put",'
                         ' {set: [{id: "a", text: "of the first", from: 5, to: 5}], drop: []}).then(() => true)')
        self.browser.open_url('about:blank')
        self.browser.open_url(self.url + '&step=12')
        self.wait('return window.batchlightTimeline?.app.model.notes.length === 2 && batchlightTimeline.app.compare.step !== undefined')
        places = self.browser.run('const {model} = batchlightTimeline.app; return model.notes.map((note) => [note.text, model.spanOfNote(note).from, model.runOfNote(note).index])')
        self.assertEqual(sorted(places), [['hi', begin + offset, 1], ['of the first', 5, 0]])
        self.browser.run('batchlightTimeline.app.dock.show("notes")')
        self.assertEqual(sorted(text[-4:] for text in self.browser.texts('.notes li > button:first-child')), ['of A', 'of B'])

    def test_the_address_of_two_runs(self):
        self.serve_two('&step=12')
        a, b = self.begins(12)
        self.assertEqual(a, b)
        view = self.browser.run('return batchlightTimeline.app.model.view.span')
        self.assertTrue(view['from'] <= b < view['to'])
        self.browser.run('const {model, actions} = batchlightTimeline.app; actions.go(model.runs[1], model.runs[1].info.steps[0].first_ref + 12)')
        address = self.wait('return /align=12&.*sel=B:steps:12/.test(location.hash) && location.href')
        view = self.browser.run('return batchlightTimeline.app.model.view.span')
        self.browser.open_url('about:blank')
        self.browser.open_url(address)
        self.wait('return window.batchlightTimeline?.app.model.selected?.run.index === 1')
        self.wait('return /^aligned at step 12 /.test(document.querySelector(".compare-panel [role=status]")?.innerText)')
        time.sleep(0.3)  # the comparison is there: it moves nothing
        self.assertEqual(self.begins(12), [a, a])
        again = self.browser.run('return batchlightTimeline.app.model.view.span')
        self.assertAlmostEqual(again['from'], view['from'], delta=1)
        self.assertAlmostEqual(again['to'], view['to'], delta=1)
        self.assertEqual(self.browser.run('return batchlightTimeline.app.model.selected.event.row'), 12)
        # What was typed stays too.
        self.browser.run('batchlightTimeline.app.dock.show("compare"); const input = document.querySelector(".compare-panel input"); input.value = "5"; input.form.requestSubmit()')
        self.wait('return /align=5&/.test(location.hash)')
        # Another second run has other rows.
        self.browser.run('location.hash = "hash=9f2c4d0a11223344&hashb=0123456789abcdef&align=7&sel=B:steps:3"')
        self.wait('return /made for two recordings, of which the second is another one/.test(document.querySelector(".warning")?.innerText)')
        self.assertEqual(self.browser.run('return batchlightTimeline.app.compare.step'), 5)

    def test_a_server_that_ended_is_named(self):
        self.serve(20)
        self.server.stdin.close()
        self.server.wait()
        self.browser.run('batchlightTimeline.app.model.show({from: 1000, to: 200000})')
        self.wait('return /cannot reach batchlight view/.test(document.querySelector(".warning")?.innerText)')
        self.assertGreater(self.browser.run('return batchlightTimeline.counts().items'), 0)  # what was there stays
        time.sleep(0.5)
        server = self.url.split('#')[0]  # of those before there are errors too
        errors = [error for error in self.browser.errors() if error.startswith(server)]
        self.assertLess(len(errors), 8, errors)  # it does not ask again and again

    def test_a_server_that_ended_is_named_without_a_click(self):
        self.serve(20)
        self.server.stdin.close()
        self.server.wait()
        self.wait('return /cannot reach batchlight view/.test(document.querySelector(".warning")?.innerText)')
        self.browser.errors()

    def test_a_server_that_returns_goes_on(self):
        self.serve(20)
        self.browser.devtools('Network.enable')
        self.browser.devtools('Network.emulateNetworkConditions', offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)
        self.browser.run('batchlightTimeline.app.model.show({from: 1000, to: 200000})')
        self.wait('return document.querySelector(".warning.gone") !== null')
        self.browser.devtools('Network.emulateNetworkConditions', offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)
        self.wait('return document.querySelector(".warning") === null')
        self.wait('const {model} = batchlightTimeline.app; return !model.first.cache.failing && !model.first.cache.busy')
        self.browser.errors()

    def test_a_page_that_opens_without_its_server_waits_for_it(self):
        self.serve(20)
        self.browser.open_url('about:blank')
        self.browser.devtools('Network.enable')
        self.browser.devtools('Network.setBlockedURLs', urls=['*/api/1/*'])
        self.browser.open_url(self.url)
        self.wait('return /cannot reach batchlight view .* opens when it answers/.test(document.querySelector(".opening")?.innerText)')
        self.browser.devtools('Network.setBlockedURLs', urls=[])
        self.wait('return document.querySelector(".region") !== null && batchlightTimeline.counts().items > 0')
        self.browser.errors()

    def test_a_wrong_token_is_named(self):
        self.serve(20)
        self.browser.open_url('about:blank')
        self.browser.open_url(self.url.split('#')[0] + '#token=' + '0' * 64)
        self.wait('return /Open the printed URL again/.test(document.querySelector("[role=alert]")?.innerText)')
        self.browser.errors()  # the browser's own words on it

    def test_notes_are_sent(self):
        self.serve(20)
        self.browser.keys('Shift+m')
        self.browser.wait_for('.notes input')
        self.browser.keys('w', 'h', 'y', 'Enter')
        self.wait('return batchlightTimeline.app.model.first.source.call("notes").then(({notes}) => notes[0]?.text === "why")')


if __name__ == '__main__':
    SCRIPT, STYLE, ESBUILD, NODE = (sys.argv.pop(1) for _ in range(4))
    if webdriver.missing():
        print('skipped:', webdriver.missing())
        sys.exit(77)
    unittest.main()
