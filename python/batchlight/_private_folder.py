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
    if _others_write(own):
        raise NotPrivate("%s can be written by other users" % path)
    _check_way(os.path.dirname(os.path.realpath(path)))


def _check_way(folder):
    """Of what is made in `folder`, which has no link in its path."""
    while True:
        found, above = os.stat(folder), os.path.dirname(folder)
        # A container that has no number for root shows one and the same for all whom it does not know: what that
        # owns is root's where nobody else makes anything (as base/trusted_path.h).
        is_roots = found.st_uid == os.stat("/").st_uid and not _others_write(os.stat(above))
        if found.st_uid not in (0, os.geteuid()) and not is_roots:
            raise NotPrivate("%s belongs to someone else" % folder)
        # In a folder like /tmp nobody can remove or rename what is another's.
        if _others_write(found) and not found.st_mode & stat.S_ISVTX:
            raise NotPrivate("%s can be written by other users" % folder)
        if folder == above:
            return
        folder = above


def _others_write(found):
    return bool(found.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


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
    """Where files lie for a while, and why others could exchange what is made there ("": nobody could). TMPDIR if
    nobody could, else /tmp; where both will not do, the first that can be written (as base/trusted_path.h). Raises
    NotPrivate where neither can."""
    reasons, faulty = [], []
    for place in (os.environ.get("TMPDIR"), _TMP):
        if place:
            place = os.path.realpath(place)
            try:
                _check_way(place)
                if os.access(place, os.W_OK | os.X_OK):
                    return place, ""
                reasons.append("%s cannot be written" % place)
            except (OSError, NotPrivate) as why:
                reasons.append(str(why))
                if os.access(place, os.W_OK | os.X_OK):
                    faulty.append((place, str(why)))
    if faulty:
        return faulty[0]
    raise NotPrivate("no folder for temporary files: %s; set TMPDIR to a folder that you alone can write"
                     % "; ".join(reasons))
