#!/usr/bin/env python3
"""The chart of step times above the timeline in a real browser, with a made-up run in a file: what it draws, where it
leads by mouse, keys and fingers, and what of it stands for the picture.

Usage: timeline_steps_test.py SCRIPT STYLE [unittest arguments]: the bundles. Exits with 77 (skipped) when the machine
has no browser."""
import timeline_case
import timeline_page
from timeline_case import BUNDLES, SLOW, SLOW_BEGIN, SLOW_WAIT, STEPS, USUAL

MANY = 2000
RANGE = 'return batchlightTimeline.app.model.range?.steps'
SHOWN = ('const [shown, strip] = [".steps-shown", ".step-strip"].map((one) => document.querySelector(one).getBoundingClientRect());'
         'return [shown.left - strip.left, shown.right - strip.left]')


class StepTimes(timeline_case.TimelineCase):
    def bar_px(self):
        return self.run_js('const {right, left} = document.querySelector(".step-strip .median").getBoundingClientRect(); return right - left') / STEPS

    def slider(self, name):
        return self.run_js('return document.querySelector(".step-strip").getAttribute(arguments[0])', f'aria-{name}')

    def box(self):
        return self.run_js('const {left, top, width, height} = document.querySelector(".step-strip").getBoundingClientRect(); return [left, top, width, height]')

    def click_step(self, place):
        left, top, _, height = self.box()
        self.browser.click_at(left + (place + 0.5) * self.bar_px(), top + height / 2)

    # --- drawing ---

    def test_each_step_has_a_bar_of_its_phases(self):
        bars = self.run_js('return [...document.querySelectorAll(".step-strip .phase")].map((path) => '
                           '[getComputedStyle(path).fill, path.classList.contains("aside"), path.getAttribute("d").split("M").length - 1])')
        counted = [bar for bar in bars if not bar[1]]
        self.assertEqual([count for _, _, count in counted], [STEPS - 2] * 3)  # two are warm-up
        self.assertEqual([count for _, aside, count in bars if aside], [2] * 3)
        # The report's colours.
        palette = self.run_js('return [1, 3, 4].map((series) => { const probe = document.createElement("i"); document.body.append(probe);'
                              'probe.style.color = `var(--series-${series})`; const {color} = getComputedStyle(probe); probe.remove(); return color; })')
        self.assertEqual([color for color, _, _ in counted], palette)
        self.assertIn('median', self.browser.text('.step-head'))

    def test_a_slow_step_stands_out(self):
        marks = self.run_js('return [...document.querySelectorAll(".step-strip .outlier")].map((path) => '
                            '[path.getAttribute("d").split("M").length - 1, path.getBoundingClientRect().left - path.ownerSVGElement.getBoundingClientRect().left])')
        self.assertEqual(len(marks), 1)
        self.assertEqual(marks[0][0], 1)
        self.assertAlmostEqual(marks[0][1] / self.bar_px(), SLOW + 0.5, delta=0.5)

    def test_with_more_steps_than_points_the_worst_is_seen_and_gone_to(self):
        page = self.folder / 'many.html'
        timeline_page.write(*BUNDLES, page, MANY, 1)
        self.browser.resize(700, 900)
        self.addCleanup(self.browser.resize, 1280, 900)
        self.open('#from=0&to=1000', page)
        x, y = self.run_js('const {left, width, top} = document.querySelector(".step-strip .outlier").getBoundingClientRect(); return [left + width / 2, top + 3]')
        self.browser.click_at(x, y)
        self.wait(RANGE)
        self.assertEqual(self.run_js(RANGE), {'first': MANY // 2, 'last': MANY // 2})
        self.assertRegex(self.browser.text('.step-tip'), rf'^steps \d+ to \d+\n.* on average; longest of these \d+: step {MANY // 2}, .*, unusually long: ')

    def test_both_themes_have_their_colours(self):
        fills = 'return [...document.querySelectorAll(".step-strip .phase")].map((path) => getComputedStyle(path).fill)'
        light = self.run_js(fills)
        self.browser.prefer(color_scheme='dark', reduced_motion='reduce')
        self.assertNotEqual(self.run_js(fills), light)

    # --- the picture ---

    def test_the_steps_of_the_picture_are_marked(self):
        bar = self.bar_px()
        for first, last in ((5, 7), (0, 0), (SLOW, STEPS - 1)):
            steps = self.run_js('const {from, to} = batchlightTimeline.app.model.first.info.steps[0]; return [from[arguments[0]], to[arguments[1]]]', first, last)
            self.show(steps[0] + 10, steps[1] - 10)
            left, right = self.run_js(SHOWN)
            self.assertAlmostEqual(left / bar, first, delta=0.1)
            self.assertAlmostEqual(right / bar, last + 1, delta=0.1)

    # --- going ---

    def test_a_click_goes_to_the_step_and_back_to_the_place_before(self):
        entries = self.wait('return location.hash.includes("from=") && history.length')
        before = self.view()
        self.click_step(SLOW)
        self.wait(RANGE)
        self.assertEqual(self.run_js(RANGE), {'first': SLOW, 'last': SLOW})
        begin, end = self.view()
        self.assertTrue(begin < SLOW_BEGIN and end > SLOW_BEGIN + SLOW_WAIT and end - begin < 3 * SLOW_WAIT)
        self.wait('return document.querySelector(".range-head").innerText.includes(arguments[0])', f'Step {SLOW}')
        self.wait('return history.length > arguments[0]', entries)
        self.run_js('history.back()')
        self.wait('return batchlightTimeline.app.model.range === null')
        self.assertEqual([round(time) for time in self.view()], [round(time) for time in before])

    def test_steps_are_places_of_the_history_by_their_numbers(self):
        self.click_step(SLOW)
        self.wait(RANGE)
        entries = self.wait('return location.hash.includes("range=") && history.length')
        left, top, _, height = self.box()
        drag = [(left + (place + 0.5) * self.bar_px(), top + height / 2) for place in (5, 8)]
        typed = ('const [form] = [...document.querySelectorAll(".range-forms form")].slice(-1);'
                 '[...form.querySelectorAll("input")].forEach((input, i) => (input.value = [11, 13][i])); form.requestSubmit()')
        ways = [(lambda: self.browser.drag_between(*drag), {'first': 5, 'last': 8}),
                (lambda: self.run_js(typed), {'first': 11, 'last': 13}),
                (lambda: (self.show(17 * USUAL + 1000, 17 * USUAL + 90_000), self.press('t')), {'first': 17, 'last': 17})]
        named = 'const {first, last} = batchlightTimeline.app.model.range?.steps ?? {}; return {first, last}'
        for i, (way, steps) in enumerate(ways):
            way()
            self.wait('return history.length === arguments[0] + arguments[1]', entries, i + 1)
            self.assertEqual(self.run_js(named), steps)
        for steps in ({'first': 11, 'last': 13}, {'first': 5, 'last': 8}, {'first': SLOW, 'last': SLOW}):
            self.run_js('history.back()')
            self.wait(f'const steps = (() => {{ {named} }})(); return steps.first === arguments[0] && steps.last === arguments[1]', *steps.values())
        self.wait('return document.querySelector(".range-head").innerText.startsWith(arguments[0])', f'Step {SLOW},')
        # Of any other time none is said.
        self.open(f'#from=0&to={9 * USUAL}&range=100-{3 * USUAL}')
        self.assertIsNone(self.run_js(RANGE))

    def test_a_drag_takes_several(self):
        left, top, _, height = self.box()
        bar = self.bar_px()
        self.browser.drag_between((left + 5.5 * bar, top + height / 2), (left + 8.5 * bar, top + height / 2))
        self.wait(RANGE)
        self.assertEqual(self.run_js(RANGE), {'first': 5, 'last': 8})
        begin, end = self.view()
        self.assertTrue(begin < 5 * USUAL and end > 9 * USUAL - 2000)

    def test_a_finger_goes_to_a_step(self):
        left, top, _, height = self.box()
        point = {'x': left + 9.5 * self.bar_px(), 'y': top + height / 2, 'id': 0}
        self.browser.devtools('Input.dispatchTouchEvent', type='touchStart', touchPoints=[point])
        self.browser.devtools('Input.dispatchTouchEvent', type='touchEnd', touchPoints=[])
        self.wait(RANGE)
        self.assertEqual(self.run_js(RANGE)['first'], 9)

    def test_keys_go_from_step_to_step(self):
        self.show(5 * USUAL + 100, 6 * USUAL - 2000)
        self.run_js('document.querySelector(".step-strip").focus()')
        for key, step in (('Right', 6), ('Right', 7), ('Left', 6), ('Home', 0), ('Left', 0), ('End', STEPS - 1), ('Right', STEPS - 1)):
            self.press(key)
            self.assertEqual(self.run_js(RANGE), {'first': step, 'last': step}, key)
            self.assertEqual(self.slider('valuenow'), str(step))
        self.assertEqual(self.run_js('return document.activeElement.className'), 'step-strip')
        self.assertIsNone(self.selected())  # the arrows are not the rows' then
        # The words go first, then the range.
        for gone in ('return document.querySelector(".step-tip").hidden', 'return batchlightTimeline.app.model.range === null'):
            self.assertFalse(self.run_js(gone))
            self.press('Escape')
            self.assertTrue(self.run_js(gone))
        self.press('w')  # other keys are the timeline's
        begin, end = self.view()
        self.assertLess(end - begin, USUAL)

    # --- everybody ---

    def test_it_is_a_slider_that_says_its_step(self):
        self.assertEqual([self.slider('valuemin'), self.slider('valuemax')], ['0', str(STEPS - 1)])
        self.click_step(SLOW)
        self.wait(RANGE)
        self.assertRegex(self.slider('valuetext'), rf'^step {SLOW}, 3\.04 ms, unusually long: 2\.00 times the median$')
        self.click_step(0)
        self.assertRegex(self.slider('valuetext'), '^step 0, 1.52 ms, warm-up$')
        self.assertIn('Arrow keys', self.slider('label'))

    def test_the_words_of_a_bar_have_its_phases(self):
        self.browser.hover('.step-strip', (SLOW + 0.5) * self.bar_px() / self.box()[2])
        words = self.browser.text('.step-tip')
        self.assertRegex(words, rf'^step {SLOW}\n3\.04 ms, unusually long: .*\ndata loading\s+1\.60 ms\s+52\.\d %\nbackward')
        self.browser.hover('.scroller')
        self.assertTrue(self.run_js('return document.querySelector(".step-tip").hidden'))

    def test_a_phone_has_it_and_a_low_window_has_its_room(self):
        for width, height, there in ((375, 720, True), (800, 500, False), (1600, 900, True)):
            self.browser.resize(width, height)
            self.addCleanup(self.browser.resize, 1280, 900)
            self.browser.wait_frames(3)
            left, _, own, high = self.box()
            self.assertEqual(high >= 24, there, (width, height))
            self.assertLessEqual(left + own, width)
            self.assertLessEqual(high, 0.06 * height)
            self.assertLessEqual(self.run_js('return document.documentElement.scrollWidth'), width)

    def test_a_step_that_the_file_lacks_is_said(self):
        self.open('', self.part)
        self.click_step(20)
        self.assertIn('This file does not hold step 20', self.browser.text('.warning'))
        self.click_step(5)
        self.wait(RANGE)
        self.assertEqual(self.run_js(RANGE)['first'], 5)


if __name__ == '__main__':
    timeline_case.main()
