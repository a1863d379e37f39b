"""The timeline of a run in a notebook.

A run of up to some hundred thousand events becomes a page within the notebook, which needs nothing
more, also after it was saved. A larger one is served by `batchlight view` for as long as this
process lives and somebody looks at it.
"""
import atexit
import html
import os
import subprocess
from urllib.parse import urlsplit

from ._tool import ToolError, find_tool, said

_MOST_BYTES = 8 << 20  # of a page in a notebook, which is saved with it
_IDLE = "30m"
_PLACES = ("--step", "--at", "--find")


class NotShown(ToolError):
    """Why a run cannot be shown; the text says what to do."""


class Timeline:
    """What a notebook draws as the timeline of a run. Keep it, or call close(), to end its server."""

    def __init__(self, source, height, server=None):
        self._source = source  # attributes of the frame
        self._height = height
        self._server = server

    def _repr_html_(self):
        # No clipboard, no top navigation: the page needs scripts and its own origin alone.
        return ('<iframe %s width="100%%" height="%d" style="border:1px solid #8884;border-radius:6px" '
                'title="Timeline"></iframe>' % (self._source, self._height))

    def close(self):
        """Ends the server, if there is one."""
        server, self._server = self._server, None
        if server is not None and server.poll() is None:
            server.terminate()
            server.wait()
        if server is not None:
            server.stdout.close()


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
            return Timeline('srcdoc="%s"' % html.escape(page), height)
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
    if _has_proxy():
        served = urlsplit(url)
        url = "%sproxy/%d/#%s" % (path if path.endswith("/") else path + "/", served.port, served.fragment)
    shown = Timeline('src="%s"' % html.escape(url), height, server)
    atexit.register(shown.close)
    return shown
