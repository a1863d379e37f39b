"""The timeline of a run in a notebook.

A run of up to some hundred thousand events becomes a page within the notebook, which needs nothing
more, also after it was saved. A larger one is served by `batchlight view` for as long as this
process lives and somebody looks at it.
"""
import atexit
import html
import json
import os
import re
import subprocess
import urllib.request
from urllib.parse import urlsplit

from ._tool import ToolError, find_tool, said

_MOST_BYTES = 8 << 20  # of a page in a notebook, which is saved with it
_IDLE = "30m"
_PLACES = ("--step", "--at", "--find")
_ASK_S = 10
_GONE = "This view was of another session of the notebook: run the cell again."
# The output is stored, and may be opened when its server is gone.
_OPENS = """<body style="font: 14px system-ui; margin: 12px"><p hidden>%s</p><script>
fetch("%sthere", {mode: "no-cors", cache: "no-store"}).then((answer) => {
  if (!answer.ok && answer.type !== "opaque") throw answer;
  location.replace("%s");
}).catch(() => { document.querySelector("p").hidden = false; });
</script></body>"""


class NotShown(ToolError):
    """Why a run cannot be shown; the text says what to do."""


class Timeline:
    """What a notebook draws as the timeline of a run. Keep it, or call close(), to end its server."""

    def __init__(self, page, height, server=None):
        self._page = page  # for a frame
        self._height = height
        self._server = server

    def _repr_html_(self):
        page = self._page if self._server is None else self._server.page()
        # No clipboard, no top navigation: the page needs scripts and its own origin alone.
        return ('<iframe srcdoc="%s" width="100%%" height="%d" style="border:1px solid #8884;border-radius:6px" '
                'title="Timeline"></iframe>' % (html.escape(page), self._height))

    def close(self):
        """Ends the server, if there is one."""
        if self._server is not None:
            self._server.close()


class _Server:
    """A running `batchlight view`."""

    def __init__(self, process, url):
        self._process = process
        # Never in what a notebook stores: who has it reads the run for as long as it is served.
        found = re.fullmatch(r"(?P<at>http://.*:[0-9]+/)#token=(?P<token>[0-9a-f]+)(?P<place>.*)", url)
        if found is None:
            self.close()
            raise NotShown("%r is no address of a run: this `batchlight` is of another version" % url)
        self._at, self._token, self._place = found["at"], found["token"], found["place"]
        self.address = self._at  # as the browser finds it
        self.port = urlsplit(url).port

    def _ticket(self):
        """What is worth the token for the page that comes first, within minutes."""
        ask = urllib.request.Request(self._at + "api/1/ticket", b"{}", {
            "Authorization": "Bearer " + self._token, "Content-Type": "application/json"})
        directly = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with directly.open(ask, timeout=_ASK_S) as answer:
            return json.load(answer)["ticket"]

    def page(self):
        try:
            fragment = "ticket=%s%s" % (self._ticket(), self._place)
        except OSError:  # it has ended
            return "<p>%s</p>" % _GONE
        return _OPENS % (_GONE, self.address, "%s#%s" % (self.address, fragment))

    def close(self):
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()
        self._process.stdout.close()


def show(run, step=None, at=None, find=None, height=640, served=None, origin=None):
    """The timeline of `run`, to be the last expression of a notebook's cell.

    step=13, at="1.234s" and find="addmm" are where it opens. served: True or False decides between
    a server and a page within the notebook; by default the run's size does. origin: where the
    browser finds the notebook ("https://hub.example.org"), for a server; it is found by itself for
    Jupyter on this machine.
    """
    place = ["%s=%s" % (name, value) for name, value in zip(_PLACES, (step, at, find))
             if value is not None]
    if len(place) > 1:
        raise ValueError("show: one of step, at and find")
    program = find_tool()
    if not served:
        page, cut = _page(program, run, place)
        if served is False or (not cut and len(page) <= _MOST_BYTES):
            return Timeline(page, height)
    return _serve(program, run, place, height, origin)


def _page(program, run, place):
    """(the page, whether something was left out)"""
    done = subprocess.run([program, "view", "--html", "/dev/stdout"] + place + ["--", os.fspath(run)],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    error = done.stderr.decode(errors="replace")
    if done.returncode != 0:
        raise NotShown(said(error))
    return done.stdout.decode(errors="replace"), "NOTE: " in error


def _notebook():
    """(origin, path) of a Jupyter server on this machine; of several the newest."""
    try:
        from jupyter_server.serverapp import list_running_servers
        servers = list(list_running_servers())
    except Exception:  # no Jupyter here, or one that is no more
        servers = []
    if not servers:
        return "http://localhost:8888", "/"
    url = urlsplit(servers[-1]["url"])
    return "%s://%s" % (url.scheme, url.netloc), servers[-1].get("base_url") or "/"


def _has_proxy():
    try:
        import jupyter_server_proxy  # noqa: F401
    except ImportError:
        return False
    return True


def _serve(program, run, place, height, origin):
    found, path = _notebook()
    path = os.environ.get("JUPYTERHUB_SERVICE_PREFIX", path)
    origin = origin or found
    parts = urlsplit(origin)
    words = [program, "view", "--no-browser", "--idle", _IDLE, "--frame-ancestor", origin]
    if parts.hostname in ("localhost", "127.0.0.1"):
        other = "127.0.0.1" if parts.hostname == "localhost" else "localhost"
        words += ["--frame-ancestor", origin.replace(parts.hostname, other, 1)]
    elif parts.hostname:
        words += ["--allow-host", parts.hostname]
    server = subprocess.Popen(words + place + ["--", os.fspath(run)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    url = server.stdout.readline().decode(errors="replace").strip()
    if not url:
        error = server.communicate()[1].decode(errors="replace")
        raise NotShown(said(error))
    server.stderr.close()
    served = _Server(server, url)
    if _has_proxy():
        served.address = "%sproxy/%d/" % (path if path.endswith("/") else path + "/", served.port)
    shown = Timeline(None, height, served)
    atexit.register(shown.close)
    return shown
