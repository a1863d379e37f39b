"""Builds the operator recorder (torch_ops.cpp) against the program's PyTorch, once, and loads it.

The result is kept in ~/.cache/batchlight/torch_ops, by version of PyTorch and of the source.
Without a C++ compiler or PyTorch's headers operators come from PyTorch's NVTX ranges, if it has
them (_torch_emit_nvtx.py); modules and phases are recorded as ever.
"""
import os
import sys

import _batchlight_native as _native

from . import _calibration, _private_folder
from ._background_build import Build, NotBuilt
from ._imports import attempt
from ._standard import standard

_SOURCES = ("torch_ops.cpp", "native_api.h", "_torch_operators.py")
_FOLDER = os.path.dirname(os.path.abspath(__file__))


class CannotBuild(Exception):
    """Why, and what to do about it: one sentence for people."""


def install(torch, shapes, nvtx):
    try:
        path = _built(torch)
        ctypes = standard("ctypes")
        before = []
        attempt("calibration", lambda: before.append(_calibration.operator_time(torch)))
        failed = ctypes.CDLL(path).batchlight_torch_ops_start(1 if shapes else 0)
        if failed:
            raise CannotBuild("the operator recorder found no recording to write to")
        attempt("calibration", lambda: _calibration.say_operator_cost(torch, *before))
    except (CannotBuild, OSError) as error:
        from . import _torch_emit_nvtx
        if nvtx and _torch_emit_nvtx.install(torch, shapes):
            text = ("operators come from PyTorch's NVTX ranges, of the main thread and its backward "
                    "only, at more cost: %s" % error)
        else:
            text = "operators are not recorded, modules and phases are: %s" % error
        _native.reason("torch_ops", text)
        _say(text)


def _built(torch):
    """Path of the library, built if it is not there yet."""
    libraries = _loaded_libraries()
    digest = standard("hashlib").sha256()
    for name in _SOURCES:
        with open(os.path.join(_FOLDER, name), "rb") as file:
            digest.update(file.read())
    for fact in (torch.__version__, torch.version.git_version, _abi(torch), *libraries):
        digest.update(b"\0%s" % str(fact).encode())
    path = os.path.join(_cache(), digest.hexdigest()[:16], "torch_ops.so")
    if _is_built(path):
        return path

    tools = _tools(torch)  # before there is a folder, and a word of building
    _make_private(os.path.dirname(path))
    build = Build(path, _commands(torch, os.path.join(_FOLDER, "torch_ops.cpp"), path + ".part"),
                  tools)
    try:
        build.wait(lambda: _is_built(path), lambda: _say(
            "building the operator recorder for PyTorch %s, once (about 10 s)" % torch.__version__),
            _environment())
    except NotBuilt as why:
        raise CannotBuild("the operator recorder, compiled by %s: %s" % (_compiler(), why))
    return path


def _is_built(path):
    """Whether the library is there. One that another user may have put there is not loaded."""
    if not os.path.lexists(path):
        return False
    try:
        _private_folder.check(path)
    except _private_folder.NotPrivate as error:
        raise CannotBuild("%s, so it is not loaded: remove it" % error)
    return True


def _make_private(folder):
    try:
        _private_folder.make(folder)
    except _private_folder.NotPrivate as error:
        raise CannotBuild("%s, so nothing is built there: remove it" % error)


def _tools(torch):
    """A line that identifies the compiler and the headers: it changes when they do."""
    header = os.path.join(_headers(torch), "ATen", "record_function.h")
    return " ".join("%s %d" % (path, os.stat(path).st_mtime_ns) for path in (_compiler(), header))


def _abi(torch):
    return int(getattr(torch._C, "_GLIBCXX_USE_CXX11_ABI", True))


def _loaded_libraries():
    """The files of PyTorch's two libraries in this process."""
    wanted = {"libtorch_cpu.so": None, "libc10.so": None}
    with open("/proc/self/maps") as maps:
        for line in maps:
            path = line[line.find("/"):].rstrip("\n")
            name = os.path.basename(path)
            for library in wanted:
                if name == library or name.startswith(library + "."):
                    wanted[library] = path
    if None in wanted.values():
        raise CannotBuild("libtorch_cpu.so and libc10.so are not loaded by this PyTorch")
    return tuple(wanted.values())


def _headers(torch):
    """The folder with PyTorch's headers: in the package itself or, of a distribution, beside it."""
    own = os.path.join(os.path.dirname(os.path.abspath(torch.__file__)), "include")
    if _has_headers(own):
        return own
    version = torch.__version__.split(".")[:2]
    for folder in (os.path.join(sys.prefix, "include"), "/usr/include", "/usr/local/include"):
        if _has_headers(folder) and _version_of(folder) == version:
            return folder
    raise CannotBuild(
        "PyTorch %s is here without its C++ headers (Debian: apt install libtorch-dev)"
        % torch.__version__)


def _has_headers(folder):
    return os.path.exists(os.path.join(folder, "ATen", "record_function.h"))


def _version_of(folder):
    """[major, minor] of the version that headers outside the package claim."""
    for file in ("torch/headeronly/version.h", "torch/version.h",
                 "torch/csrc/api/include/torch/version.h"):
        try:
            with open(os.path.join(folder, file)) as header:
                words = header.read().split()
        except OSError:
            continue
        if "TORCH_VERSION_MAJOR" in words:
            return [_after(words, "TORCH_VERSION_MAJOR"), _after(words, "TORCH_VERSION_MINOR")]
    return None


def _after(words, word):
    return words[words.index(word) + 1] if word in words[:-1] else None


def _compiler():
    shutil = standard("shutil")
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        path = name and shutil.which(name)
        if path:
            return path
    raise CannotBuild("there is no C++ compiler here (Debian: apt install g++)")


def _environment():
    """The compiler is not part of the program, so it runs outside the recording."""
    return {
        key: value for key, value in os.environ.items()
        if key not in ("LD_PRELOAD", "NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH")
        and not key.startswith("BATCHLIGHT_")}


def _commands(torch, source, path):
    """What makes the shared library `path` of a C++ source that uses PyTorch's C++ interface: the
    standard that PyTorch's headers ask for differs by version, so there are two."""
    # NDEBUG as in PyTorch's own build: without it RecordFunction has one more member.
    return [
        [_compiler(), "-std=c++" + standard, "-O2", "-DNDEBUG", "-fPIC", "-shared", "-w",
         "-fvisibility=hidden", "-D_GLIBCXX_USE_CXX11_ABI=%d" % _abi(torch), "-I" + _FOLDER,
         "-isystem", _headers(torch), source, "-o", path, *_loaded_libraries()]
        for standard in ("17", "20")]


def compile_against(torch, source, path):
    """Runs these commands here, for benchmarks. None, or what the compiler said."""
    subprocess = standard("subprocess")
    log = ""
    for command in _commands(torch, source, path):
        done = subprocess.run(command, env=_environment(), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode == 0:
            return None
        log = log or done.stdout.decode(errors="replace")
    return log


def _cache():
    """A folder that can be written, the user's cache if possible."""
    tempfile = standard("tempfile")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    reasons = []
    for folder in (os.path.join(home, "batchlight", "torch_ops"),
                   os.path.join(tempfile.gettempdir(), "batchlight-%d" % os.geteuid())):
        try:
            _private_folder.make(folder)
            if os.access(folder, os.W_OK):
                return folder
            reasons.append("%s cannot be written" % folder)
        except (OSError, _private_folder.NotPrivate) as error:
            reasons.append(str(error))
    raise CannotBuild("no folder for it is this user's alone (%s): set XDG_CACHE_HOME to one"
                      % "; ".join(reasons))


def _say(text):
    """One line for the user, from one process of a job."""
    if os.environ.get("LOCAL_RANK", "0") != "0":
        return
    process = sys.modules.get("multiprocessing.process")
    if process is not None and getattr(process.current_process(), "_inheriting", False):
        return
    try:
        sys.stderr.write("batchlight: %s\n" % text)
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        pass  # no standard error
