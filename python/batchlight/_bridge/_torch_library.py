"""Builds a C++ source of ours against the program's PyTorch, once: its C++ interface changes with every
version, so no binary can be shipped.

The result is kept in ~/.cache/batchlight/torch_ops, by version of PyTorch and of the source.
"""
import os
import sys

import _batchlight_native as _native

from .. import _private_folder
from ._background_build import Build, NotBuilt
from ._standard import standard

_SOURCES = ("native_api.h", "torch_operands.h", "_torch_library.py")  # of every library, besides its own
_FOLDER = os.path.dirname(os.path.abspath(__file__))
RECORDER_BUILD = 23  # of src/format/phases.def
_CORE = ("libtorch_cpu.so", "libc10.so")


class CannotBuild(Exception):
    """Why, and what to do about it: one sentence for people."""


def built(torch, source, what, libraries=_CORE, headers=()):
    """Path of the library, built if it is not there yet. `what`: names it, for people; `libraries`:
    those of PyTorch that it uses; `headers`: folders besides PyTorch's, the
    first one's before the others'."""
    libraries = _loaded_libraries(libraries)
    digest = standard("hashlib").sha256()
    for name in (source, *_SOURCES):
        with open(os.path.join(_FOLDER, name), "rb") as file:
            digest.update(file.read())
    for fact in (torch.__version__, torch.version.git_version, _abi(torch), *libraries, *headers):
        digest.update(b"\0%s" % str(fact).encode())
    path = os.path.join(_cache(), digest.hexdigest()[:16], source.replace(".cpp", ".so"))
    if _is_built(path):
        return path

    tools = _tools(torch)  # before there is a folder, and a word of building
    _make_private(os.path.dirname(path))
    commands = _commands(torch, os.path.join(_FOLDER, source), path + ".part", libraries, headers)
    build = Build(path, commands, tools)
    _native.phase_begin(RECORDER_BUILD, "batchlight: building its " + what)
    try:
        build.wait(lambda: _is_built(path), lambda: say(
            "building the %s for PyTorch %s, once (about 10 s)" % (what, torch.__version__)),
            _environment(os.path.dirname(path)))
    except NotBuilt as why:
        raise CannotBuild("the %s, compiled by %s: %s" % (what, _compiler(), why))
    finally:
        _native.phase_end()
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


def _loaded_libraries(names):
    """The files of these libraries of PyTorch's in this process."""
    wanted = dict.fromkeys(names)
    with open("/proc/self/maps") as maps:
        for line in maps:
            path = line[line.find("/"):].rstrip("\n")
            name = os.path.basename(path)
            for library in wanted:
                if name == library or name.startswith(library + "."):
                    wanted[library] = path
    if None in wanted.values():
        raise CannotBuild("%s are not loaded by this PyTorch" % " and ".join(names))
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
        # What the user names may lie anywhere; what is looked for, only where no present folder leads.
        path = name and shutil.which(name, path=None if os.sep in name else _absolute(os.environ.get("PATH", os.defpath)))
        if path:
            return os.path.abspath(path)
    raise CannotBuild("there is no C++ compiler here (Debian: apt install g++)")


_SEARCHED = ("PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX",
             "LD_LIBRARY_PATH", "LD_RUN_PATH")


def _absolute(path):
    """Without the present folder, which an empty entry stands for: others may be able to write there."""
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if os.path.isabs(entry))


def _environment(folder):
    """The compiler is not part of the program, so it runs outside the recording. What it keeps for a while, also the
    text that becomes the library, is in `folder`: who could exchange that would choose what is loaded."""
    environment = {
        key: _absolute(value) if key in _SEARCHED else value for key, value in os.environ.items()
        if key not in ("LD_PRELOAD", "NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH")
        and not key.startswith("BATCHLIGHT_")}
    environment.update(dict.fromkeys(("TMPDIR", "TMP", "TEMP"), folder))
    return {key: value for key, value in environment.items() if value or key not in _SEARCHED}


def _commands(torch, source, path, libraries, headers):
    """What makes the shared library `path` of a C++ source that uses PyTorch's C++ interface: the
    standard that PyTorch's headers ask for differs by version, so there are two."""
    isystem = [word for folder in headers for word in ("-isystem", folder)]
    # NDEBUG as in PyTorch's own build: without it RecordFunction has one more member.
    return [
        [_compiler(), "-std=c++" + standard, "-O2", "-DNDEBUG", "-fPIC", "-shared", "-w",
         "-fvisibility=hidden", "-D_GLIBCXX_USE_CXX11_ABI=%d" % _abi(torch), "-I" + _FOLDER,
         "-isystem", _headers(torch), *isystem, source, "-o", path, *libraries]
        for standard in ("17", "20")]


def compile_against(torch, source, path):
    """Runs these commands here, for benchmarks. None, or what the compiler said."""
    subprocess = standard("subprocess")
    log = ""
    for command in _commands(torch, source, path, _loaded_libraries(_CORE), ()):
        done = subprocess.run(command, env=_environment(os.path.dirname(path)), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode == 0:
            return None
        log = log or done.stdout.decode(errors="replace")
    return log


def _cache():
    """A folder that can be written, the user's cache if possible."""
    home = os.path.abspath(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    reasons = []
    for folder in (os.path.join(home, "batchlight", "torch_ops"), "/tmp/batchlight-%d" % os.geteuid()):
        try:
            _private_folder.make(folder)
            if os.access(folder, os.W_OK):
                return folder
            reasons.append("%s cannot be written" % folder)
        except (OSError, _private_folder.NotPrivate) as error:
            reasons.append(str(error))
    raise CannotBuild("no folder for it is this user's alone (%s): set XDG_CACHE_HOME to one"
                      % "; ".join(reasons))


def say(text):
    """One line for the user, from one process of a job."""
    if os.environ.get("LOCAL_RANK", "0") != "0":
        return
    process = sys.modules.get("multiprocessing.process")
    if process is not None and getattr(process.current_process(), "_inheriting", False):
        return
    if sys.stderr is not sys.__stderr__:  # what the program has put there is for what it says itself
        return
    try:
        sys.stderr.write("batchlight: %s\n" % text)
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        pass  # no standard error
