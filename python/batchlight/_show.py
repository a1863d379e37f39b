"""The timeline of a run in a notebook.

A run of up to some hundred thousand events becomes a page within the notebook, which needs nothing
more, also after it was saved. A larger one is served by `batchlight view` for as long as this
process lives and somebody looks at it.
"""
import atexit
import errno
import html
import json
import os
import re
import socket
import subprocess
import time
import urllib.request
from urllib.parse import urlsplit

from ._tool import ToolError, find_tool, said

_MOST_BYTES = 8 << 20  # of a page in a notebook, which is saved with it
_IDLE = "30m"
_PLACES = ("--step", "--at", "--find")
_ASK_S = 10
_held = []  # sockets
_TRIES = 64  # of ports
_GONE = "This view was of another session of the notebook: run the cell again."
_FRESH_S = 300  # as a ticket
# The output is stored, and may be opened when anybody has the port of its server. So nothing there is asked before
# Jupyter says that the kernel's very process lives, which holds the port: what it says has its session. Elsewhere
# nobody can say, and only an output that was just made asks.
_OPENS = """<body style="font: 14px system-ui; margin: 12px"><p hidden>%s</p><script>
const of = %s;
const fails = () => { document.querySelector("p").hidden = false; };
const opens = () => fetch(of.at + "there", {mode: "no-cors", cache: "no-store"}).then((answer) => {
  if (!answer.ok && answer.type !== "opaque") throw answer;
  location.replace(of.at + of.fragment);
}).catch(fails);
const at = new URL(of.channels, document.baseURI);
if (of.channels && /^http/.test(at.protocol)) {
  at.protocol = at.protocol.replace("http", "ws");
  const socket = new WebSocket(at), id = crypto.getRandomValues(new Uint32Array(4)).join("");
  socket.onopen = () => socket.send(JSON.stringify({channel: "control", parent_header: {}, metadata: {}, content: {},
    header: {msg_id: id, msg_type: "kernel_info_request", session: id, username: "", version: "5.3", date: ""}}));
  socket.onmessage = ({data}) => {
    const said = typeof data === "string" ? JSON.parse(data) : {};
    if (said.channel !== "control" || said.parent_header.msg_id !== id) return;
    socket.onclose = null;
    socket.close();
    (said.header.session === of.session ? opens : fails)();
  };
  socket.onclose = fails;
} else if (Math.abs(Date.now() / 1000 - of.made) < of.fresh) opens();
else fails();
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
        self.kernel = None  # (its number at Jupyter, its session)
        self.jupyter = "/"
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
        number, session = self.kernel or ("", "")
        of = {"at": self.address, "fragment": "#" + fragment, "made": time.time(), "fresh": _FRESH_S, "session": session,
              "channels": number and "%sapi/kernels/%s/channels" % (self.jupyter, number)}
        if number and self.address != self._at:  # each question of the page carries the login to Jupyter
            of["fragment"] += "&kernel=%s,%s" % self.kernel
        return _OPENS % (_GONE, json.dumps(of).replace("<", "\\u003c"))

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
    """(origin, path) of a Jupyter server on this machine: of several this kernel's, else the newest."""
    try:
        from jupyter_server.serverapp import list_running_servers
        servers = list(list_running_servers())
    except Exception:  # no Jupyter here, or one that is no more
        servers = []
    if not servers:
        return "http://localhost:8888", "/"
    servers = [server for server in servers if server.get("pid") == os.getppid()] or servers
    url = urlsplit(servers[-1]["url"])
    return "%s://%s" % (url.scheme, url.netloc), servers[-1].get("base_url") or "/"


def _kernel():
    """(its number at Jupyter, the session of all that this process says there); None where it is no Jupyter's."""
    try:
        from ipykernel.connect import get_connection_file
        from IPython import get_ipython
        number = re.fullmatch(r"kernel-([\w-]+)\.json", os.path.basename(get_connection_file()))[1]
        session = get_ipython().kernel.session.session
        return (number, session) if re.fullmatch(r"[\w-]+", session) else None
    except Exception:
        return None


def _held_port():
    """A port of this user's for as long as this process lives, also when its server has ended: what is stored leads
    there. Sockets hold it at both loopback addresses: Jupyter's proxy asks "localhost", which may be ::1 first."""
    for _ in range(_TRIES):
        held = [_bound(socket.AF_INET, "127.0.0.1", 0)]
        port = held[0].getsockname()[1]
        try:
            held.append(_bound(socket.AF_INET6, "::1", port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                held[0].close()
                continue  # else there is no IPv6
        _held.extend(held)
        return port
    raise NotShown("no port is free at 127.0.0.1 and at ::1")


def _bound(family, address, port):
    """A socket that listens to nobody. Errors: OSError."""
    held = socket.socket(family)
    try:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind((address, port))
    except OSError:
        held.close()
        raise
    return held


def _has_proxy():
    try:
        import jupyter_server_proxy  # noqa: F401
    except ImportError:
        return False
    return True


def _serve(program, run, place, height, origin):
    found, path = _notebook()
    path = os.environ.get("JUPYTERHUB_SERVICE_PREFIX", path)
    path = path if path.endswith("/") else path + "/"
    origin = origin or found
    parts = urlsplit(origin)
    words = [program, "view", "--no-browser", "--idle", _IDLE]
    if hasattr(socket, "SO_REUSEPORT"):
        words += ["--share-port", "--port=%d" % _held_port()]
    words += ["--frame-ancestor", origin]
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
    served.kernel, served.jupyter = _kernel(), path
    if _has_proxy():
        served.address = "%sproxy/%d/" % (path, served.port)
    shown = Timeline(None, height, served)
    atexit.register(shown.close)
    return shown
