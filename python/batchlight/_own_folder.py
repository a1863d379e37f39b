"""A folder of our own for a while."""
import os
import tempfile

from ._tool import temporary_place

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class OwnFolder:
    """Where nobody else can exchange it: in `where`, or as TMPDIR says. Removed only while its name leads to it: what
    has been put there meanwhile stays. Holds no descriptor, which a program may close and open anew. A context manager
    that gives the path. Errors: ToolError where there is no such place; OSError where none can be made."""

    def __init__(self, prefix, where=None):
        self.path = tempfile.mkdtemp(prefix=prefix, dir=where or temporary_place())
        self._identity = _identity(self.path)

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        """As far as it can be; twice is as once."""
        try:
            folder = os.open(self.path, _FOLDER)
        except OSError:
            return
        try:
            if _identity(folder) == self._identity:
                _empty(folder)
                os.rmdir(self.path)  # of an empty folder alone
        except OSError:
            pass
        finally:
            os.close(folder)


def _identity(folder):
    info = os.stat(folder)
    return info.st_dev, info.st_ino


def _empty(folder):
    for _, folders, files, own in os.fwalk(".", topdown=False, dir_fd=folder, onerror=None):
        for name in files:
            os.unlink(name, dir_fd=own)
        for name in folders:
            try:
                os.rmdir(name, dir_fd=own)
            except NotADirectoryError:  # a link to one
                os.unlink(name, dir_fd=own)


def write_beside(path, data):
    """The file `path` with these bytes, whole or not at all. What is under its name, a pipe or a link of somebody's, is
    replaced and gets nothing. Errors: OSError."""
    folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        partial = ".batchlight.partial-%s" % os.urandom(8).hex()
        file = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666, dir_fd=folder)
        try:
            with open(file, "wb") as output:
                output.write(data)
            os.replace(partial, os.path.basename(path), src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            os.unlink(partial, dir_fd=folder)
            raise
    finally:
        os.close(folder)
