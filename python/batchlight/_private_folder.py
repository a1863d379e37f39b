"""Places that nobody else can write: for code that the bridge will load, and for files that are there for a while."""
import os
import stat

_TMP = "/tmp"


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
    _check_way(os.path.dirname(os.path.realpath(path)))


def _check_way(folder):
    """Of what is made in `folder`, which has no link in its path."""
    # Who owns / can exchange all: root, also where a container has no number for root.
    trusted = (0, os.geteuid(), os.stat("/").st_uid)
    while True:
        found = os.stat(folder)
        if found.st_uid not in trusted:
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


def temporary_place():
    """Where files lie for a while: TMPDIR if nobody else could exchange what is made there, else /tmp (as
    base/trusted_path.h). Raises NotPrivate where neither is such a place."""
    reasons = []
    for place in (os.environ.get("TMPDIR"), _TMP):
        if place:
            place = os.path.realpath(place)
            try:
                _check_way(place)
                if os.access(place, os.W_OK | os.X_OK):
                    return place
                reasons.append("%s cannot be written" % place)
            except (OSError, NotPrivate) as why:
                reasons.append(str(why))
    raise NotPrivate("no folder for temporary files: %s; set TMPDIR to a folder that you alone can write"
                     % "; ".join(reasons))
