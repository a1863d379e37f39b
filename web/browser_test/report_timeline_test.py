#!/usr/bin/env python3
"""The timeline within the report page, in a real browser from disk: it is drawn when it comes into view, links of the
report lead into it and Back leads out, it follows the theme, and it says what a long run's page leaves out.

Usage: report_timeline_test.py SAMPLE_REPORT BATCHLIGHT [unittest arguments]. Exits with 77 (skipped) when the machine
has no browser."""
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

import webdriver

SAMPLE_REPORT = BATCHLIGHT = ''
RECORDINGS = pathlib.Path(__file__).resolve().parents[2] / 'tests/recordings'
INSIDE = 'const inside = document.querySelector("iframe").contentWindow.batchlightTimeline; '


def rgb(css):
    """0 to 255 of what getComputedStyle says."""
    numbers = [float(number) for number in re.findall(r'[\d.]+', css)][:3]
    return [255 * number for number in numbers] if css.startswith('color(srgb') else numbers


class ReportTimeline(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix='bl-report-')))
        cls.report('train')
        cls.report('without', '--no-timeline')
        subprocess.run([SAMPLE_REPORT, cls.folder / 'sample', '60', '40', 'gpu'], check=True)
        cls.browser = cls.enterClassContext(webdriver.Browser())

    @classmethod
    def report(cls, folder, *options, recording='h200_train'):
        subprocess.run([BATCHLIGHT, 'report', *options, '-o', cls.folder / folder, RECORDINGS / f'{recording}.batchlight'],
                       check=True, stdout=subprocess.DEVNULL)

    def setUp(self):
        self.browser.prefer(color_scheme='light', reduced_motion='reduce')
        self.browser.resize(1280, 900)

    def tearDown(self):
        self.assertEqual([error for error in self.browser.errors() if 'willReadFrequently' not in error], [])

    def open(self, folder, fragment=''):
        self.browser.open_url('about:blank')
        self.browser.open_url((self.folder / folder / 'index.html').as_uri() + fragment)

    def wait(self, script, *arguments):
        end = time.monotonic() + webdriver.LONG_S
        while time.monotonic() < end:
            if value := self.browser.run(script, *arguments):
                return value
            time.sleep(0.05)
        self.fail(f'never true: {script}')

    def wait_for_picture(self):
        self.wait(INSIDE + 'return inside ? inside.counts().items > 0 : false')

    def test_is_drawn_when_it_comes_into_view(self):
        self.open('train')
        self.assertIn('Timeline', self.browser.texts('.top-bar nav a'))
        self.assertFalse(self.browser.run(INSIDE + 'return Boolean(inside)'))
        self.browser.run('document.getElementById("timeline").scrollIntoView()')
        self.wait_for_picture()
        kinds = self.browser.run(INSIDE + 'return inside.app.model.tracks.map(({kind}) => kind)')
        for kind in ('steps', 'phases', 'thread', 'idle', 'stream'):
            self.assertIn(kind, kinds)
        # The reader of the report keeps the focus, and nothing was loaded.
        self.assertEqual(self.browser.run('return document.activeElement.tagName'), 'BODY')
        self.assertEqual(self.browser.run('return performance.getEntriesByType("resource").length'), 0)

    def test_every_event_is_there(self):
        self.open('train', '#timeline&')
        self.wait_for_picture()
        held, all_events = self.browser.run(
            INSIDE + 'const {first} = inside.app.model; let sum = 0;'
            'const rows = first.info.tracks.filter(({counter}) => !counter).map(({id, rows}) => [id, 0, rows]);'
            'return first.source.view({from: first.info.from, to: first.info.to + 2 ** 24, step: 2 ** 20, rows})'
            '.then(({rows}) => { for (const {merged} of rows.values()) for (const count of merged) sum += count;'
            ' return [sum, first.info.tables.reduce((all, {rows}) => all + rows, 0)]; })')
        self.assertEqual(held, all_events)

    def test_links_lead_into_it_and_back_leads_out(self):
        self.open('train')
        self.browser.run('document.querySelector("#table-steps summary").click()')
        self.browser.wait_for('#table-steps .to-timeline')
        self.browser.run('document.querySelectorAll("#table-steps .to-timeline")[2].click()')
        self.wait_for_picture()
        self.assertIn('whole-timeline', self.browser.run('return document.body.className'))
        box = self.browser.run('const {top, bottom} = document.querySelector(".timeline-box").getBoundingClientRect();'
                               'return [top, bottom, innerHeight]')
        self.assertEqual(box[:2], [0, box[2]])
        number, view, step = self.browser.run(
            INSIDE + 'const {model, range} = inside.app; const [steps] = model.first.info.steps;'
            'return [steps.number[2], model.view.span, {from: steps.from[2], to: steps.to[2]}]')
        self.assertLessEqual(view['from'], step['from'])
        self.assertGreaterEqual(view['to'], step['to'])
        self.assertLess(view['to'] - view['from'], 3 * (step['to'] - step['from']), number)
        self.browser.click('.timeline-head .back')
        self.wait('return !document.body.classList.contains("whole-timeline")')
        # A second link moves the timeline that is there.
        self.browser.run('document.querySelector("#table-kernels summary").click()')
        self.browser.wait_for('#table-kernels .to-timeline')
        self.browser.run('document.querySelector("#table-kernels .to-timeline").click()')
        found = self.wait(INSIDE + 'return inside.app.model.selected?.event.table === "kernels" && inside.app.model.selected.event.name')
        self.assertTrue(self.browser.run('return document.querySelector("#table-kernels .to-timeline")'
                                         '.getAttribute("aria-label").startsWith("Show " + arguments[0])', found))
        self.browser.run('history.back()')
        self.wait('return !document.body.classList.contains("whole-timeline")')

    def test_findings_lead_to_what_they_are_about(self):
        self.open('train')
        words = self.browser.text('#advice .see .to-timeline')
        self.assertRegex(words, '^The longest idle: .* in the timeline$')
        self.browser.run('document.querySelector("#advice .see .to-timeline").click()')
        self.wait_for_picture()
        self.wait(INSIDE + 'return words(inside) === arguments[0];'
                  'function words(inside) { return `The longest ${inside.app.model.selected?.event.name} in the timeline`; }', words)

    def test_every_row_with_a_link_leads_to_what_it_names(self):
        """Of all tables: to events that are called just so, of the kind that the table is about."""
        self.report('memory', recording='h200_memory')
        self.open('memory', '#timeline&')
        self.wait_for_picture()
        self.browser.run('for (const box of document.querySelectorAll("details.table-box")) box.open = true')
        self.browser.wait_for('#table-copies .to-timeline')
        rows = self.browser.run(
            'return [...document.querySelectorAll("details.table-box")].map((box) => [box.id.slice(6), [...box.querySelectorAll("tbody tr")]'
            '.map((row) => row.querySelector(".to-timeline")?.getAttribute("href") ?? null)])')
        for table, links in rows:
            if table not in ('advice', 'start_up', 'figures', 'processes', 'losses'):
                self.assertNotIn(None, links, table)
        named = sorted({link for _, links in rows for link in links if link and 'find=' in link})
        self.assertGreater(len(named), 50)
        wrong = self.browser.run(
            INSIDE + 'return Promise.all(arguments[0].map(async (link) => { const asked = new URLSearchParams(link.split("&").slice(1).join("&").replaceAll("+", "%2B"));'
            ' const [text, table] = [asked.get("find"), asked.get("table") ?? undefined];'
            ' const {event} = await inside.app.model.first.source.call("longest", {text, table, called: 1, nth: 0});'
            # Links have the first 300 letters of a name.
            ' const is_it = text.length < 300 ? event?.name === text : event?.name.startsWith(text);'
            ' return is_it ? null : [link, event?.name]; })).then((all) => all.filter(Boolean))', named)
        self.assertEqual(wrong, [])
        # The module "0" has that in its name which many have.
        link = self.browser.run('return [...document.querySelectorAll("#table-modules tbody tr")].find(({cells}) => cells[0].innerText.trim() === "0")'
                                '.querySelector(".to-timeline").getAttribute("href")')
        self.browser.run('location.hash = arguments[0]', link)
        self.wait(INSIDE + 'const {selected} = inside.app.model; return selected?.event.name === "0" && selected.event.table === "module_calls"')
        wide = INSIDE + 'const {selected: {event}, view} = inside.app.model; return view.x(event.to) - view.x(event.from)'
        self.wait(wide + ' > 75')
        # Branches of the tree, too.
        self.assertGreater(self.browser.run('return document.querySelectorAll("[role=treegrid] .to-timeline").length'), 5)

    def test_a_slow_step_and_the_longest_call_lead_into_it(self):
        self.open('sample')
        self.browser.wait_for('.outliers .to-timeline')
        self.browser.run('document.querySelector(".outliers .to-timeline").click()')
        self.wait_for_picture()
        self.wait(INSIDE + 'return inside.app.model.range?.steps?.first === 30')
        self.browser.click('.timeline-head .back')
        self.wait('return !document.body.classList.contains("whole-timeline")')
        self.browser.run('document.querySelector("#phases .opener").click()')
        self.browser.wait_for('#phases .events .to-timeline')
        name, length, begin = self.browser.run(
            'const link = document.querySelector("#phases .events .to-timeline"); link.click();'
            'return [link.closest("tr").querySelector(".tree-label [title]").title, link.parentElement.innerText, link.parentElement.title]')
        self.wait(INSIDE + 'const {view} = inside.app.model; return view.to - view.from < 1e9')
        ref, count = self.wait(
            INSIDE + 'const {view, first} = inside.app.model;'
            'return first.source.call("longest", {text: arguments[0], called: 1, nth: 0, from: view.from, to: view.to})'
            '.then(({event, count}) => event && [event, count])', name)
        words = re.match(r'([\d.]+) (.?s) in step', length)
        unit = {'s': 1e9, 'ms': 1e6, 'µs': 1e3, 'ns': 1}[words[2]]
        self.assertAlmostEqual((ref['to'] - ref['from']) / unit, float(words[1]), delta=0.01 * float(words[1]), msg=(name, begin, count))

    def test_phases_and_causes_of_gaps_have_the_reports_colours(self):
        self.open('train')
        chips = {}
        for track in range(2):
            self.browser.run('document.querySelectorAll("#phases .choice label")[arguments[0]].click()', track)
            chips |= dict(self.browser.run('return [...document.querySelectorAll("#phases .chip")].map((chip) => '
                                           '[chip.parentElement.textContent.trim(), getComputedStyle(chip).backgroundColor])'))
        self.browser.run('location.hash = "#timeline&"')
        self.wait_for_picture()
        for kind, table, names in (('phases', 'step_phases', ('forward', 'backward', 'optimizer', 'data loading')),
                                   ('idle', 'gpu_idle_causes', ('idle: data loading', 'idle: CUDA calls', 'idle: autograd'))):
            for name in names:
                # The longest of this name, alone in the window.
                self.wait(INSIDE + 'const {model} = inside.app; return model.first.source.call("longest", {text: arguments[0], called: 1, table: arguments[1], nth: 0})'
                          '.then(({event}) => { window.event_shown = event; model.show(event); return true; })', name, table)
                self.browser.wait_frames(3)
                self.wait(INSIDE + 'return !inside.app.model.first.cache.busy')
                self.browser.wait_frames(3)
                pixel = self.browser.run(
                    INSIDE + 'const {stage} = inside.app; const {track, depth} = window.event_shown;'
                    'const lane = stage.lanes.find((lane) => lane.block.track.info?.id === track && lane.depth === depth);'
                    'const {canvas, context, scale} = stage.rows;'
                    'return [...context.getImageData(Math.round(canvas.width * 0.75), Math.round((lane.y + 2) * scale), 1, 1).data.slice(0, 3)]')
                for seen, known in zip(pixel, rgb(chips[name])):
                    self.assertAlmostEqual(seen, known, delta=2, msg=f'{kind}, {name}: {pixel}, {chips[name]}')

    def test_a_link_from_elsewhere_opens_it(self):
        self.open('train', '#timeline&step=3')
        self.wait_for_picture()
        self.wait(INSIDE + 'return inside.app.model.range !== null')
        self.browser.click('.timeline-head .back')
        self.wait('return !document.body.classList.contains("whole-timeline")')
        self.assertTrue(self.browser.text('.verdict'))

    def test_follows_the_theme(self):
        self.open('train', '#timeline&')
        self.wait_for_picture()
        ground = INSIDE + 'return [inside.app.stage.inks.dark, inside.app.stage.rows.canvas.ownerDocument.documentElement.dataset.theme]'
        self.assertFalse(self.browser.run(ground)[0])
        self.browser.run('document.querySelector(".theme").click()')
        self.wait(INSIDE + 'return inside.app.stage.inks.dark')
        self.browser.run('document.querySelector(".theme").click(); localStorage.clear()')

    def test_keys_are_the_timelines_while_it_has_the_focus(self):
        self.open('train', '#timeline&')
        self.wait_for_picture()
        before = self.browser.run(INSIDE + 'return inside.app.model.view.span')
        self.browser.run('document.querySelector("iframe").contentDocument.querySelector(".region").focus()')
        self.browser.keys('w')
        self.wait(INSIDE + 'return inside.app.model.view.span.to - inside.app.model.view.span.from < arguments[0]',
                  before['to'] - before['from'])

    def test_without_it_nothing_leads_there(self):
        self.open('without')
        self.assertEqual(self.browser.run('return document.querySelectorAll("#timeline, .to-timeline, iframe").length'), 0)

    def test_fits_a_phone(self):
        self.browser.resize(390, 844)
        self.open('sample')
        self.browser.run('document.getElementById("timeline").scrollIntoView()')
        self.wait_for_picture()
        self.assertLessEqual(self.browser.run('return document.documentElement.scrollWidth'), 390)


if __name__ == '__main__':
    SAMPLE_REPORT, BATCHLIGHT = sys.argv.pop(1), sys.argv.pop(1)
    if webdriver.missing():
        print('skipped:', webdriver.missing())
        sys.exit(77)
    unittest.main()
