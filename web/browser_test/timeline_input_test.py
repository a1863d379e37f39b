#!/usr/bin/env python3
"""Keys, mouse and fingers on the timeline in a real browser, each at least once; the browser's Back; a phone.

Usage: timeline_input_test.py SCRIPT STYLE [unittest arguments]: the bundles. Exits with 77 (skipped) when the machine
has no browser."""
import timeline_case
from timeline_case import LAYER, SLOW_BEGIN, SLOW_WAIT, USUAL

ALT, SHIFT = 1, 8
LEAST_PX = 24  # of what is pressed


class Input(timeline_case.TimelineCase):
    def mouse(self, kind, x, y, **more):
        self.browser.devtools('Input.dispatchMouseEvent', type=kind, x=x, y=y, **more)

    def drag(self, start, end, button='left', modifiers=0):
        held = {'button': button, 'buttons': 4 if button == 'middle' else 1, 'modifiers': modifiers}
        self.mouse('mouseMoved', *start)
        self.mouse('mousePressed', *start, clickCount=1, **held)
        for share in (0.5, 1):
            self.mouse('mouseMoved', *(a + share * (b - a) for a, b in zip(start, end)), **held)
        self.mouse('mouseReleased', *end, clickCount=1, **held)
        self.frame()

    def finger(self, *places):
        for kind, points in [('touchStart', places[:1]), *[('touchMove', [place]) for place in places[1:]], ('touchEnd', [])]:
            self.browser.devtools('Input.dispatchTouchEvent', type=kind, touchPoints=[{'x': x, 'y': y, 'id': 0} for x, y in points])

    def at(self, ns, kind, depth=0):
        return self.left() + self.x_of(ns), self.lane_y(kind, depth)

    def name(self):
        return self.selected()[0]

    # --- keys ---

    def test_plus_and_minus_zoom(self):
        for zoom_in in ('=', 'Shift+='):
            begin, end = self.view()
            self.press(zoom_in)
            self.frame()
            closer = self.view()
            self.assertAlmostEqual((closer[1] - closer[0]) / (end - begin), 0.6, places=2)
            self.press('-')
            self.frame()
            self.assertAlmostEqual(self.view()[1] - self.view()[0], end - begin, delta=2)

    def test_f_fits_the_event_and_then_the_range(self):
        self.select_longest_gap()
        self.press('0')
        self.frame()
        self.press('f')
        self.frame()
        begin, end = self.view()
        self.assertTrue(begin < SLOW_BEGIN and end > SLOW_BEGIN + SLOW_WAIT and end - begin < 2 * SLOW_WAIT, (begin, end))
        self.press('Escape', '0')
        self.frame()
        self.run_js('batchlightTimeline.app.model.setRange({from: arguments[0], to: arguments[1]})', 3 * USUAL, 5 * USUAL)
        self.press('f')
        self.frame()
        begin, end = self.view()
        self.assertTrue(begin < 3 * USUAL and end > 5 * USUAL and end - begin < 4 * USUAL, (begin, end))

    def test_a_double_click_fits_what_is_under_it(self):
        self.show(SLOW_BEGIN - USUAL, SLOW_BEGIN + 3 * USUAL)
        x, y = self.at(SLOW_BEGIN + SLOW_WAIT / 2, 'phases')
        for clicks in (1, 2):
            self.mouse('mousePressed', x, y, button='left', buttons=1, clickCount=clicks)
            self.mouse('mouseReleased', x, y, button='left', clickCount=clicks)
            self.wait('return batchlightTimeline.app.model.selected?.event.name === "data loading"')
        self.wait('const {view} = batchlightTimeline.app.model; return view.to - view.from < arguments[0]', 2 * SLOW_WAIT)
        begin, end = self.view()
        self.assertTrue(begin < SLOW_BEGIN and end > SLOW_BEGIN + SLOW_WAIT)

    def test_comma_and_point_go_along_the_row(self):
        self.show(4 * USUAL, 8 * USUAL)
        self.browser.click_at(*self.at(5.3 * USUAL, 'phases'))
        self.wait('return batchlightTimeline.app.model.selected !== null')
        first = self.selected()
        self.press('.')
        self.wait('return batchlightTimeline.app.model.selected.event.from > arguments[0]', first[1])
        self.assertGreaterEqual(self.selected()[1], first[2])
        self.press(',')
        self.wait('return batchlightTimeline.app.model.selected.event.from === arguments[0]', first[1])

    def test_the_first_arrow_begins_in_the_window(self):
        self.show(0, 3 * USUAL)
        self.assertIsNone(self.selected())
        self.press('Down')
        self.wait('return batchlightTimeline.app.model.selected !== null')
        name, begin, end, _ = self.selected()
        self.assertTrue(begin < 2 * USUAL and end > USUAL, (name, begin, end))

    def test_enter_folds_the_track_of_the_event(self):
        self.show(0, 3 * USUAL)
        self.browser.click_at(*self.at(USUAL * 0.3, 'thread'))
        self.wait('return batchlightTimeline.app.model.selected !== null')
        lanes = 'return batchlightTimeline.app.stage.lanes.filter(({block}) => block.track.kind === "thread").length'
        open_lanes = self.run_js(lanes)
        self.press('Enter')
        self.browser.wait_frames(3)
        self.assertLess(self.run_js(lanes), open_lanes)
        self.press('Enter')
        self.browser.wait_frames(3)
        self.assertEqual(self.run_js(lanes), open_lanes)

    def test_l_again_is_the_second_longest(self):
        self.show(0, 3 * USUAL)
        self.browser.click_at(*self.at(USUAL * 0.3, 'thread'))
        self.wait('return batchlightTimeline.app.model.selected !== null')
        for rank in (1, 2):
            self.press('l')
            self.wait('return batchlightTimeline.app.model.selected.event.same_name.rank === arguments[0]', rank)

    # --- mouse ---

    def test_middle_and_shift_drag_pan(self):
        for button, modifiers in (('middle', 0), ('left', SHIFT)):
            self.show(4 * USUAL, 8 * USUAL)
            x, y = self.at(6 * USUAL, 'thread')
            under = (x - self.left()) * 4 * USUAL / self.run_js('return batchlightTimeline.app.model.view.width')
            self.drag((x, y), (x + 100, y), button, modifiers)
            begin, end = self.view()
            self.assertEqual(end - begin, 4 * USUAL)
            self.assertAlmostEqual(4 * USUAL - begin, 100 * 4 * USUAL / self.run_js('return batchlightTimeline.app.model.view.width'), delta=USUAL / 50,
                                   msg=str(under))
            self.assertIsNone(self.run_js('return batchlightTimeline.app.model.range'))

    def assert_words(self, ns, kind, words):
        """Names and whole times may come a moment later."""
        self.mouse('mouseMoved', *self.at(ns, kind))
        self.wait('const tip = document.querySelector(".tooltip"); return !tip.hidden && new RegExp(arguments[0]).test(tip.innerText)', words)

    def test_the_words_under_the_pointer(self):
        # One event, to a pixel of the picture.
        self.show(SLOW_BEGIN - LAYER, SLOW_BEGIN + SLOW_WAIT + LAYER)
        self.assert_words(SLOW_BEGIN + SLOW_WAIT / 2, 'phases', r'^data loading\s+about 1\.60 ms$')
        self.assert_words(SLOW_BEGIN + SLOW_WAIT / 2, 'steps', r'^step 20 \(steady\)\s+about 3\.04 ms$')
        # One that reaches far beyond it has its own times as soon as they are known.
        self.show(SLOW_BEGIN + LAYER, SLOW_BEGIN + 2 * LAYER)
        self.assert_words(SLOW_BEGIN + 1.5 * LAYER, 'phases', r'^data loading\s+1\.60 ms$')
        # From afar several are one box.
        self.show(0, 40 * USUAL)
        self.assert_words(10.5 * USUAL, 'stream', r'^.+\s+\d+ short events in (about )?[\d.]+ .?s, the longest of them this$')
        self.assert_words(10.5 * USUAL, 'phases', r'^(forward|backward)\s+about [\d.]+ .?s$')
        self.mouse('mouseMoved', 5, 5)
        self.wait('return document.querySelector(".tooltip").hidden')

    def test_alt_takes_a_range_as_it_is_dragged(self):
        """Without it an edge near to an event's end is that."""
        for modifiers, sticks in ((0, True), (ALT, False)):
            self.press('Escape')
            self.show(SLOW_BEGIN - SLOW_WAIT, SLOW_BEGIN + 3 * SLOW_WAIT)
            x, y = self.at(SLOW_BEGIN, 'phases')
            self.drag((x + 4, y), (x + 200, y), modifiers=modifiers)
            self.wait('return batchlightTimeline.app.model.range !== null')
            self.browser.wait_frames(3)
            begin = self.run_js('return batchlightTimeline.app.model.range.from')
            self.assertEqual(begin == SLOW_BEGIN, sticks, begin - SLOW_BEGIN)

    # --- fingers ---

    def test_a_finger_taps_and_pans(self):
        self.show(4 * USUAL, 8 * USUAL)
        x, y = self.at(5.3 * USUAL, 'thread')
        self.finger((x, y))
        self.wait('return batchlightTimeline.app.model.selected !== null')
        name, begin, end, _ = self.selected()
        self.assertTrue(begin <= 5.3 * USUAL <= end, name)
        self.show(4 * USUAL, 8 * USUAL)
        self.finger((x, y), (x - 30, y), (x - 100, y))
        self.wait('return batchlightTimeline.app.model.view.from > arguments[0]', 4 * USUAL)
        self.assertEqual(self.view()[1] - self.view()[0], 4 * USUAL)

    def test_a_phone_has_buttons_for_what_keys_do(self):
        self.browser.resize(375, 720)
        self.addCleanup(self.browser.resize, 1280, 900)
        self.browser.wait_frames(3)
        self.browser.click('.ways button')
        self.wait('return batchlightTimeline.app.model.selected?.event.table === "gpu_idle"')
        self.assertEqual(self.selected()[1:3], [SLOW_BEGIN, SLOW_BEGIN + SLOW_WAIT])
        self.browser.click('.ways button:last-child')
        self.wait('const {view, whole} = batchlightTimeline.app.model; return view.from <= whole.from && view.to >= whole.to')
        # What the head says is there, and nothing is pushed out of the window.
        self.assertRegex(self.browser.text('.timeline-bar .span'), r'40 steps, median')
        self.assertTrue(self.run_js('return document.querySelector(".timeline-bar .span").getClientRects().length > 0'))
        self.assertLessEqual(self.run_js('return document.documentElement.scrollWidth'), 375)

    def test_the_axis_of_a_phone_has_a_time(self):
        self.browser.resize(375, 720)
        self.addCleanup(self.browser.resize, 1280, 900)
        self.browser.wait_frames(3)
        self.run_js('const {context} = batchlightTimeline.app.stage.ruler; window.drawn = []; const draw = context.fillText.bind(context);'
                    'context.fillText = (text, ...at) => { drawn.push(text); draw(text, ...at); }')
        for first in range(3, 30, 4):
            self.run_js('drawn.length = 0')
            self.show(first * USUAL + USUAL // 7, (first + 3) * USUAL + USUAL // 5)
            self.assertTrue([text for text in self.run_js('return drawn') if text.endswith('s')], f'steps from {first} on')

    def test_what_is_pressed_is_large_enough(self):
        for width, height in ((1280, 900), (375, 720)):
            self.browser.resize(width, height)
            self.addCleanup(self.browser.resize, 1280, 900)
            self.browser.wait_frames(3)
            self.select_longest_gap()
            small = self.run_js(
                'return [...document.querySelectorAll("button, input, summary, [role=tab]")].filter((one) => one.getClientRects().length > 0)'
                '.map((one) => [one.outerHTML.slice(0, 100), one.getBoundingClientRect()])'
                '.filter(([, box]) => box.width > 0 && Math.min(box.width, box.height) < arguments[0] - 0.5)'
                '.map(([html, {width, height}]) => [html, width, height])', LEAST_PX)
            self.assertEqual(small, [], (width, height))

    # --- the way back ---

    def test_back_leads_to_the_place_before(self):
        self.run_js('location.hash = "step=5"')
        self.wait('return batchlightTimeline.app.model.range?.steps.first === 5')
        entries = self.wait_for_entries(0)
        first = self.view()
        self.browser.click_at(*self.at(5.3 * USUAL, 'thread'))
        self.wait('return batchlightTimeline.app.model.selected !== null')
        self.wait_for_entries(entries)
        one = self.selected()
        self.select_longest_gap()
        self.wait_for_entries(entries + 1)
        self.assertEqual(self.run_js('return history.length'), entries + 2)
        # Moving makes none.
        self.press('d', 'd', 'w')
        self.browser.wait_frames(3)
        self.run_js('history.back()')
        self.wait('return batchlightTimeline.app.model.selected?.event.from === arguments[0]', one[1])
        self.assertEqual(self.selected(), one)
        self.run_js('history.back()')
        self.wait('return batchlightTimeline.app.model.selected === null')
        self.assertEqual([round(time) for time in self.view()], [round(time) for time in first])
        self.run_js('history.forward()')
        self.wait('return batchlightTimeline.app.model.selected?.event.from === arguments[0]', one[1])

    def wait_for_entries(self, before):
        """Until the address is written, and there are more entries in the history than before."""
        self.wait('return history.length > arguments[0] && location.hash.includes("from=")', before)
        return self.run_js('return history.length')

    def test_a_mark_is_in_the_address(self):
        self.select_longest_gap()
        self.press('m')
        self.wait('return location.hash.includes("mark=")')
        place = self.run_js('return location.hash')
        self.open(place)
        self.wait('return batchlightTimeline.app.model.mark !== null')
        self.assertEqual(self.run_js('const {mark} = batchlightTimeline.app.model; return [mark.from, mark.to]'), [SLOW_BEGIN, SLOW_BEGIN + SLOW_WAIT])


if __name__ == '__main__':
    timeline_case.main()
