"""A folder of our own for a while, where TMPDIR may be a place in which others can exchange names."""
import fcntl
import os
import stat
import tempfile

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class OwnFolder:
    """Removed by its descriptor: what somebody has put under its name meanwhile stays. A context manager that gives the
    path. Errors: OSError where none can be made, or somebody exchanged it at once."""

    def __init__(self, prefix, where=None):
        self.path = tempfile.mkdtemp(prefix=prefix, dir=where)
        opened = os.open(self.path, _FOLDER)
        self._fd = fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, 3)  # no place of a standard stream that is closed
        os.close(opened)
        info = os.fstat(self._fd)
        if info.st_uid != os.geteuid() or stat.S_IMODE(info.st_mode) & 0o077 or os.listdir(self._fd):
            os.close(self._fd)
            raise OSError("somebody exchanged %s; let TMPDIR be a folder in which others cannot" % self.path)

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        """As far as it can be; twice is as once."""
        if self._fd < 0:
            return
        try:
            _empty(self._fd)
            if os.path.samestat(os.fstat(self._fd), os.stat(self.path, follow_symlinks=False)):
                os.rmdir(self.path)  # of an empty folder alone
        except OSError:
            pass
        finally:
            os.close(self._fd)
            self._fd = -1


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
        partial = ".%s.partial-%s" % (os.path.basename(path)[:200], os.urandom(8).hex())
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
