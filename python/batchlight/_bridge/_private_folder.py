"""Where the bridge keeps code that it will load: places that nobody else can write."""
import os
import stat


class NotPrivate(Exception):
    """What others could change, and what to do about it: one sentence for people."""


def check(path):
    """Raises NotPrivate unless `path` belongs to this user, is writable by nobody else, and so is
    every folder on the way to it (another user could exchange what lies below)."""
    own = os.stat(path, follow_symlinks=False)
    if stat.S_ISLNK(own.st_mode) or own.st_uid != os.geteuid():
        raise NotPrivate("%s belongs to someone else" % path)
    if own.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise NotPrivate("%s can be written by other users" % path)
    folder = os.path.dirname(os.path.realpath(path))
    while True:
        found = os.stat(folder)
        if found.st_uid not in (0, os.geteuid()):
            raise NotPrivate("%s belongs to someone else" % folder)
        # In a folder like /tmp nobody can remove or rename what is another's.
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not found.st_mode & stat.S_ISVTX:
            raise NotPrivate("%s can be written by other users" % folder)
        if folder == os.path.dirname(folder):
            return
        folder = os.path.dirname(folder)


def make(path):
    """Makes the folder and those above it, for this user alone, and checks it."""
    above = os.path.dirname(path)
    if above and not os.path.isdir(above):
        make(above)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    check(path)
