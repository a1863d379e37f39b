"""What tests of the timeline's page in a real browser begin with: a made-up run in a file, and what they ask of it."""
import pathlib
import sys
import tempfile
import time
import unittest

import timeline_page
import webdriver

BUNDLES = []  # paths of the script and the style
STEPS, LAYERS = 40, 12
LAYER = timeline_page.LAYER_NS
USUAL = LAYER * (2 + 3 * LAYERS) + 1000            # from step to step
SLOW = STEPS // 2                                  # the step that waits for its data
SLOW_BEGIN = SLOW * USUAL
SLOW_WAIT = 40 * LAYER
VIEW = 'const {view} = batchlightTimeline.app.model; return [view.from, view.to]'


class TimelineCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix='bl-timeline-')))
        cls.page = cls.folder / 'timeline.html'
        cls.events = timeline_page.write(*BUNDLES, cls.page, STEPS, LAYERS)
        cls.part = cls.folder / 'part.html'
        timeline_page.write(*BUNDLES, cls.part, STEPS, LAYERS, held=(2, 9))
        cls.browser = cls.enterClassContext(webdriver.Browser())

    def setUp(self):
        self.browser.prefer(color_scheme='light', reduced_motion='reduce')
        self.browser.resize(1280, 900)
        self.open()

    def tearDown(self):
        # The tests themselves read the canvas back.
        self.assertEqual([error for error in self.browser.errors() if 'willReadFrequently' not in error], [])

    def open(self, fragment='', page=None):
        self.browser.open_url('about:blank')
        self.browser.open_url((page or self.page).as_uri() + fragment)
        self.browser.wait_for('.region')
        self.wait('return batchlightTimeline.counts().items > 0')
        self.settle()
        if not fragment:
            self.opened_at = self.view()
            self.press('0')
            self.frame()

    def settle(self):
        """The first frame may know only the pinned rows: the window is measured after it."""
        self.browser.wait_frames(3)
        self.wait('return !batchlightTimeline.app.model.first.cache.busy')
        self.browser.wait_frames(2)

    def run_js(self, script, *arguments):
        return self.browser.run(script, *arguments)

    def wait(self, script, *arguments):
        end = time.monotonic() + webdriver.LONG_S
        while time.monotonic() < end:
            if value := self.run_js(script, *arguments):
                return value
            time.sleep(0.03)
        self.fail(f'never true: {script}')

    def view(self):
        return self.run_js(VIEW)

    def selected(self):
        return self.run_js('const {selected} = batchlightTimeline.app.model; return selected && '
                           '[selected.event.name, selected.event.from, selected.event.to, selected.event.depth]')

    def press(self, *keys):
        self.browser.keys(*keys)

    def select_longest_gap(self):
        self.press('i')
        self.wait('return batchlightTimeline.app.model.selected?.event.table === "gpu_idle"')

    def show(self, begin, end):
        self.run_js('batchlightTimeline.app.model.show({from: arguments[0], to: arguments[1]})', begin, end)
        self.frame()

    def frame(self):
        self.browser.wait_frames(2)  # the first asks for what it lacks
        self.wait('return !batchlightTimeline.app.model.first.cache.busy')
        self.browser.wait_frames(2)

    def x_of(self, ns):
        return self.run_js('return batchlightTimeline.app.model.view.x(arguments[0])', ns)

    def lane_y(self, kind, depth=0):
        return self.run_js('const lane = batchlightTimeline.app.stage.lanes.find(({block, depth}) => '
                           'block.track.kind === arguments[0] && depth === arguments[1]);'
                           'const box = document.querySelector(".over").getBoundingClientRect();'
                           'return box.top + lane.y + lane.height / 2', kind, depth)

    def left(self):
        return self.run_js('return document.querySelector(".over").getBoundingClientRect().left')


def main():
    """Of a file of tests: SCRIPT STYLE [unittest arguments]. Exits with 77 (skipped) when the machine has no browser."""
    BUNDLES.extend([sys.argv.pop(1), sys.argv.pop(1)])
    if webdriver.missing():
        print('skipped:', webdriver.missing())
        sys.exit(77)
    unittest.main('__main__')
