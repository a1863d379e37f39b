#!/usr/bin/env python3
"""batchlight.show(run) in a real JupyterLab, run by its own command in a real browser: a page within the notebook, and a
server behind jupyter-server-proxy.

Usage: jupyterlab_test.py BATCHLIGHT [unittest arguments]. Exits with 77 (skipped) when the machine has no browser, or no
JupyterLab in build/jupyter (tools/install_readers.sh build/jupyter tools/requirements-jupyter.txt)."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import webdriver

BATCHLIGHT = ''
SOURCE = pathlib.Path(__file__).resolve().parents[2]
LAB = SOURCE / 'build/jupyter/bin/jupyter-lab'
TOKEN = 'f00d' * 8


def cell(text):
    return {'cell_type': 'code', 'execution_count': None, 'id': f'cell{abs(hash(text))}', 'metadata': {}, 'outputs': [],
            'source': text}


def notebook(*cells):
    return json.dumps({'cells': [cell(text) for text in cells], 'metadata': {'kernelspec': {
        'display_name': 'Python 3', 'language': 'python', 'name': 'python3'}}, 'nbformat': 4, 'nbformat_minor': 5})


def listening(port):
    """A socket that listens there, once it can: the kernel ends, and holds the port until then."""
    end = time.monotonic() + webdriver.LONG_S
    while True:
        try:
            return socket.create_server(('127.0.0.1', port))
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


class JupyterLab(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix='bl-jupyter-')))
        shutil.copy(SOURCE / 'tests/recordings/h200_train.batchlight', folder / 'train.batchlight')
        for name, words in (('page', ''), ('served', ', served=True, step=3')):
            (folder / f'{name}.ipynb').write_text(notebook(f'import batchlight\nshown = batchlight.show("train.batchlight"{words})\nshown'))
        environment = dict(os.environ, HOME=str(folder), JUPYTER_RUNTIME_DIR=str(folder / 'runtime'), PYTHONPATH=str(SOURCE / 'python'),
                           PATH=f'{pathlib.Path(BATCHLIGHT).parent}:{LAB.parent}:{os.environ["PATH"]}')
        log = cls.enterClassContext(open(folder / 'lab.log', 'w', encoding='utf-8'))
        root = ['--allow-root'] if os.geteuid() == 0 else []
        cls.lab = subprocess.Popen([LAB, '--no-browser', '--ip=127.0.0.1', '--port=0', f'--IdentityProvider.token={TOKEN}',
                                    f'--ServerApp.root_dir={folder}', '--expose-app-in-browser', *root], env=environment,
                                   stdout=subprocess.DEVNULL, stderr=log)
        cls.addClassCleanup(cls.lab.wait)
        cls.addClassCleanup(cls.lab.terminate)
        cls.url = cls._address()
        cls.browser = cls.enterClassContext(webdriver.Browser())
        cls.browser.resize(1400, 1000)

    @classmethod
    def _address(cls):
        end = time.monotonic() + 5 * webdriver.LONG_S
        while time.monotonic() < end and cls.lab.poll() is None:
            for file in (cls.folder / 'runtime').glob('jpserver-*.json'):
                try:
                    return json.loads(file.read_text())['url']
                except ValueError:
                    pass  # it is being written
            time.sleep(0.2)
        raise AssertionError((cls.folder / 'lab.log').read_text())

    def wait(self, script):
        end = time.monotonic() + 5 * webdriver.LONG_S
        while time.monotonic() < end:
            # JupyterLab starts with seconds of script: on a busy machine the browser does not answer meanwhile.
            with contextlib.suppress(RuntimeError):
                if value := self.browser.run(script):
                    return value
            time.sleep(0.3)
        self.fail(f'never true: {script}; the page says: {self.browser.run("return document.body.innerText")[:2000]}')

    def shown(self, name):
        """Runs the notebook; the timeline's window in its output is window.timeline."""
        # A workspace of its own: one that is restored opens the notebook of the test before as well, and runs that.
        self.browser.open_url(f'{self.url}lab/workspaces/{name}/tree/{name}.ipynb?token={TOKEN}')
        self.wait('window.notebook = window.jupyterapp?.shell?.currentWidget;'
                  f' return notebook?.context?.isReady && notebook.context.path === "{name}.ipynb"'
                  ' && notebook.sessionContext.session?.kernel?.status === "idle"')
        # It is true once the cells ran; before JupyterLab knows which notebook is in front, nothing runs.
        self.wait('return jupyterapp.commands.execute("notebook:run-all-cells")')
        # A cell's output that is taken out of the page and put back has a new window.
        self.browser.run('Object.defineProperty(window, "timeline", {configurable: true, get: () =>'
                         ' notebook.node.querySelector(".jp-OutputArea iframe")?.contentWindow})')
        self.wait('return timeline?.batchlightTimeline?.counts()?.items > 0')
        return self.browser.run('return notebook.node.querySelector(".jp-OutputArea iframe").outerHTML.slice(0, 40)')

    def test_a_small_run_is_a_page_in_the_notebook(self):
        self.assertIn('srcdoc=', self.shown('page'))
        self.assertGreater(self.browser.run('return timeline.batchlightTimeline.app.model.first.info.events'), 1000)
        # The notebook keeps the keys: Shift+Enter goes on.
        self.assertNotEqual(self.browser.run('return document.activeElement.tagName'), 'IFRAME')
        self.assertTrue(self.browser.run('return timeline.batchlightTimeline.app.model.first.source.isStatic'))

    def test_a_large_run_is_served_through_the_notebooks_own_server(self):
        self.shown('served')
        self.assertIn('/proxy/', self.browser.run('return timeline.location.pathname'))
        self.assertEqual(self.browser.run('return timeline.location.origin'), self.url.rstrip('/'))
        # Ranges are worked out by the program, and the flag led to the step.
        self.wait('return /Step 3/.test(timeline.document.querySelector(".range-head")?.innerText)')
        self.assertFalse(self.browser.run('return timeline.batchlightTimeline.app.model.first.source.isStatic'))
        self.assertNotRegex(self.browser.run('return timeline.location.href'), 'token|ticket')

    def test_what_is_saved_opens_in_the_tab_that_has_opened_it(self):
        self.shown('served')
        self.browser.run('window.before = timeline; const frame = notebook.node.querySelector(".jp-OutputArea iframe");'
                         'const {parentNode} = frame; frame.remove(); parentNode.append(frame)')
        self.wait('return timeline !== before && timeline?.batchlightTimeline?.counts()?.items > 0')
        self.wait('return notebook.context.save().then(() => true)')
        saved = (self.folder / 'served.ipynb').read_text()
        self.assertIn('ticket=', saved)
        self.assertNotIn('token=', saved)
        # As another tab: its session has nothing of this one.
        self.browser.run('sessionStorage.clear(); window.before = timeline;'
                         'const frame = notebook.node.querySelector(".jp-OutputArea iframe");'
                         'const {parentNode} = frame; frame.remove(); parentNode.append(frame)')
        self.wait('return timeline !== before && /run the cell again/.test(timeline?.document?.body?.innerText)')
        # As opened later.
        # Anybody may have the port by now, and is asked nothing: each question has the login to Jupyter in it.
        port = int(re.search(r'/proxy/(\d+)/', saved)[1])
        self.wait('return notebook.sessionContext.shutdown().then(() => true)')
        other = self.enterContext(listening(port))
        self.browser.run('window.before = timeline; const frame = notebook.node.querySelector(".jp-OutputArea iframe");'
                         'const {parentNode} = frame; frame.remove(); parentNode.append(frame)')
        self.wait('return timeline !== before && /another session of the notebook: run the cell again/'
                  '.test(timeline?.document?.body?.innerText)')
        other.settimeout(3)
        with self.assertRaises(TimeoutError):
            other.accept()


if __name__ == '__main__':
    BATCHLIGHT = str(pathlib.Path(sys.argv.pop(1)).resolve())
    if webdriver.missing():
        print('skipped:', webdriver.missing())
        sys.exit(77)
    if not LAB.exists():
        print('skipped: no JupyterLab: tools/install_readers.sh build/jupyter tools/requirements-jupyter.txt')
        sys.exit(77)
    unittest.main()
