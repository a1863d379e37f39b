#!/usr/bin/python3
"""folder_server.py FOLDER PLACE [open] [full]: serves the files of FOLDER at PLACE, through FUSE. It can make no
links; with `open` it says of each file that everybody may do everything, as some network and container mounts do;
with `full` it says only when a file is closed that there was no room for it."""
import errno
import os
import sys

from fusepy import FUSE, FuseOSError, Operations

_STAT = ("st_atime", "st_ctime", "st_gid", "st_mode", "st_mtime", "st_nlink", "st_size", "st_uid",
         "st_blocks")
_SPACE = ("f_bavail", "f_bfree", "f_blocks", "f_bsize", "f_favail", "f_ffree", "f_files", "f_flag",
          "f_frsize", "f_namemax")


class Folder(Operations):
    def __init__(self, root, words):
        self._root = root
        self._more = 0o777 if "open" in words else 0
        self._is_full = "full" in words

    def _at(self, path):
        return os.path.join(self._root, path.lstrip("/"))

    def access(self, path, mode):
        if not os.access(self._at(path), mode):
            raise FuseOSError(errno.EACCES)

    def getattr(self, path, fh=None):
        info = os.lstat(self._at(path))
        facts = {key: getattr(info, key) for key in _STAT}
        facts["st_mode"] |= self._more
        return facts

    def readdir(self, path, fh):
        return [".", ".."] + os.listdir(self._at(path))

    def mkdir(self, path, mode):
        os.mkdir(self._at(path), mode)

    def rmdir(self, path):
        os.rmdir(self._at(path))

    def unlink(self, path):
        os.unlink(self._at(path))

    def rename(self, old, new):
        os.rename(self._at(old), self._at(new))

    def chmod(self, path, mode):
        os.chmod(self._at(path), mode)

    def chown(self, path, user, group):
        os.chown(self._at(path), user, group)

    def statfs(self, path):
        space = os.statvfs(self._at(path))
        return {key: getattr(space, key) for key in _SPACE}

    def open(self, path, flags):
        return os.open(self._at(path), flags)

    def create(self, path, mode, fi=None):
        return os.open(self._at(path), os.O_RDWR | os.O_CREAT, mode)

    def read(self, path, size, offset, fh):
        return os.pread(fh, size, offset)

    def write(self, path, data, offset, fh):
        return os.pwrite(fh, data, offset)

    def truncate(self, path, length, fh=None):
        os.truncate(self._at(path), length)

    def flush(self, path, fh):
        if self._is_full and os.fstat(fh).st_size > 0:
            raise FuseOSError(errno.EDQUOT)

    def fsync(self, path, datasync, fh):
        os.fsync(fh)

    def release(self, path, fh):
        os.close(fh)


if __name__ == "__main__":
    FUSE(Folder(sys.argv[1], sys.argv[3:]), sys.argv[2], foreground=True)
