"""A small WebDriver client (W3C) for Debian's chromedriver: what the browser tests need of it."""
import base64
import contextlib
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

LONG_S = 60  # a loaded machine may leave the browser without a processor for seconds
ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'
KEYS = {'Tab': '\ue004', 'Enter': '\ue007', 'Escape': '\ue00c', 'Shift': '\ue008', 'Ctrl': '\ue009', 'Home': '\ue011',
        'End': '\ue010', 'Up': '\ue013', 'Down': '\ue015', 'Left': '\ue012', 'Right': '\ue014', 'Space': ' '}


def missing():
    """What the machine lacks, in words; '' if the tests can run."""
    absent = [name for name in ('chromium', 'chromedriver') if not shutil.which(name)]
    return f'{", ".join(absent)} not found: apt-get install chromium chromium-driver' if absent else ''


class Browser:
    """A headless browser without network but for servers on this machine. Use as a context manager."""

    def __enter__(self):
        self._stack = contextlib.ExitStack()
        profile = self._stack.enter_context(
            tempfile.TemporaryDirectory(prefix='bl-browser-', ignore_cleanup_errors=True))
        driver = subprocess.Popen(['chromedriver', '--port=0'], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        self._stack.callback(self._end, driver)
        self._url = f'http://127.0.0.1:{self._port(driver)}'
        self._session = ''
        self._wait_for_driver(driver)
        arguments = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-quic',
                     '--no-first-run', '--disable-background-networking', '--disable-component-update',
                     '--disable-sync', '--hide-scrollbars', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
                     f'--user-data-dir={profile}']
        answer = self._call('POST', '/session', {'capabilities': {'alwaysMatch': {
            'browserName': 'chrome', 'goog:loggingPrefs': {'browser': 'ALL'},
            'goog:chromeOptions': {'args': arguments, 'binary': shutil.which('chromium')}}}})
        self._session = f'/session/{answer["sessionId"]}'
        self._stack.callback(lambda: self._call('DELETE', ''))
        return self

    def __exit__(self, *error):
        self._stack.close()

    @staticmethod
    def _end(driver):
        driver.terminate()
        try:
            driver.wait(LONG_S)
        except subprocess.TimeoutExpired:
            driver.kill()
            driver.wait()
        driver.stdout.close()

    @staticmethod
    def _port(driver):
        """The free port that the driver found; it says so once it listens there."""
        for line in driver.stdout:
            if match := re.search(r'successfully on port (\d+)', line):
                return match[1]
        raise RuntimeError(f'chromedriver ended with {driver.wait()}')

    def _wait_for_driver(self, driver):
        end = time.monotonic() + LONG_S
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                if self._call('GET', '/status')['ready']:
                    return
            if driver.poll() is not None:
                raise RuntimeError(f'chromedriver ended with {driver.returncode}')
            time.sleep(0.05)
        raise RuntimeError('chromedriver does not answer')

    def _call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._url + self._session + path, data, method=method,
                                         headers={'Content-Type': 'application/json'})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)['value']
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)['value']['message']) from None

    def open(self, path):
        self.open_url(pathlib.Path(path).resolve().as_uri())

    def open_url(self, url):
        self._call('POST', '/url', {'url': url})

    def run(self, script, *arguments):
        """Runs the body of a function in the page: run('return arguments[0] + 1', 2) == 3."""
        return self._call('POST', '/execute/sync', {'script': script, 'args': list(arguments)})

    def text(self, selector):
        return self.run('return document.querySelector(arguments[0]).innerText', selector)

    def texts(self, selector):
        return self.run('return [...document.querySelectorAll(arguments[0])].map(e => e.innerText)', selector)

    def find(self, selector):
        return self._call('POST', '/element', {'using': 'css selector', 'value': selector})[ELEMENT]

    def click(self, selector):
        self._row_of_points(selector)  # out from under the bar on top
        self._call('POST', f'/element/{self.find(selector)}/click', {})

    def wait_for(self, selector):
        end = time.monotonic() + LONG_S
        while time.monotonic() < end:
            if self.run('return document.querySelector(arguments[0]) !== null', selector):
                return
            time.sleep(0.02)
        raise RuntimeError(f'{selector} does not appear')

    def type(self, selector, text):
        self._call('POST', f'/element/{self.find(selector)}/value', {'text': text})

    def keys(self, *names):
        """Presses the keys one after the other; 'Shift+Right' holds shift."""
        actions = []
        for name in names:
            chord = [KEYS.get(part, part) for part in name.split('+')]
            actions += [{'type': 'keyDown', 'value': key} for key in chord]
            actions += [{'type': 'keyUp', 'value': key} for key in reversed(chord)]
        self._call('POST', '/actions', {'actions': [{'type': 'key', 'id': 'keys', 'actions': actions}]})

    def _row_of_points(self, selector):
        """A function from fractions of the element's width to pointer moves along its middle."""
        left, top, width, height = self.run(
            'const element = document.querySelector(arguments[0]);'
            'element.scrollIntoView({block: "center", behavior: "instant"});'
            'const box = element.getBoundingClientRect();'
            'return [box.left, box.top, box.width, box.height]', selector)
        return lambda fraction, ms=0: {'type': 'pointerMove', 'duration': ms, 'x': int(left + fraction * width),
                                       'y': int(top + height / 2)}

    def _pointer(self, *actions):
        self._call('POST', '/actions', {'actions': [{
            'type': 'pointer', 'id': 'mouse', 'parameters': {'pointerType': 'mouse'}, 'actions': actions}]})

    def drag(self, selector, start, end):
        """Drags horizontally over an element, from one fraction of its width to another."""
        to = self._row_of_points(selector)
        self._pointer(to(start), {'type': 'pointerDown', 'button': 0}, to((start + end) / 2, 20), to(end, 20),
                      {'type': 'pointerUp', 'button': 0})

    def hover(self, selector, fraction=0.5):
        self._pointer(self._row_of_points(selector)(fraction))

    def click_at(self, x, y):
        self._pointer({'type': 'pointerMove', 'x': round(x), 'y': round(y)}, {'type': 'pointerDown', 'button': 0},
                      {'type': 'pointerUp', 'button': 0})

    def drag_between(self, start, end):
        def move(x, y, ms=20):
            return {'type': 'pointerMove', 'duration': ms, 'x': round(x), 'y': round(y)}
        self._pointer(move(*start, 0), {'type': 'pointerDown', 'button': 0},
                      move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2), move(*end), {'type': 'pointerUp', 'button': 0})

    def wheel(self, x, y, delta_x, delta_y, ctrl=False, shift=False):
        self.devtools('Input.dispatchMouseEvent', type='mouseWheel', x=x, y=y, deltaX=delta_x, deltaY=delta_y,
                      modifiers=2 * ctrl + 8 * shift)

    def pinch(self, one, other, one_end, other_end):
        """Two fingers, from two places to two others."""
        def points(*places):
            return [{'x': x, 'y': y, 'id': finger} for finger, (x, y) in enumerate(places)]
        self.devtools('Input.dispatchTouchEvent', type='touchStart', touchPoints=points(one, other))
        self.devtools('Input.dispatchTouchEvent', type='touchMove', touchPoints=points(one_end, other_end))
        self.devtools('Input.dispatchTouchEvent', type='touchEnd', touchPoints=[])

    def run_async(self, script, *arguments):
        """As run, but the function's last argument is what it calls with the result."""
        return self._call('POST', '/execute/async', {'script': script, 'args': list(arguments)})

    def wait_frames(self, frames):
        self.run_async('const done = arguments[1]; let left = arguments[0];'
                       'const step = () => --left < 0 ? done() : requestAnimationFrame(step); step();', frames)

    def devtools(self, command, **parameters):
        return self._call('POST', '/goog/cdp/execute', {'cmd': command, 'params': parameters})

    def resize(self, width, height, scale=1):
        """The size of the page itself, as a phone would have it; no least width applies."""
        self.devtools('Emulation.setDeviceMetricsOverride', width=width, height=height, mobile=width < 600,
                      deviceScaleFactor=scale)

    def prefer(self, **features):
        """prefer(color_scheme='dark', reduced_motion='reduce')"""
        self.devtools('Emulation.setEmulatedMedia', features=[
            {'name': f'prefers-{name.replace("_", "-")}', 'value': value} for name, value in features.items()])

    def errors(self):
        """Errors and warnings of the page since the last call."""
        log = self._call('POST', '/se/log', {'type': 'browser'})
        return [entry['message'] for entry in log if entry['level'] in ('SEVERE', 'WARNING')]

    def picture(self, path, whole_page=True):
        shot = self.devtools('Page.captureScreenshot', captureBeyondViewport=whole_page)
        pathlib.Path(path).write_bytes(base64.b64decode(shot['data']))
