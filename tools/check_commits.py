#!/usr/bin/env python3
"""Checks the subjects of commits: `area: summary`, at most 60 characters, no capital after the area.

Only commits after LAST_FAULT are checked: history stays as it is. Without git, or where that
commit cannot be found, there is nothing to check; a shallow clone holds only newer ones.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAST_FAULT = '3895e0b45cada49e53c65b49b4f00cd20d5cc087'  # the newest commit with a longer subject
CHARACTERS = 60
AREA = re.compile(r'[a-z0-9][a-z0-9_./+-]*(?:, [a-z0-9][a-z0-9_./+-]*)*: (?=\S)')
# Names that look like the first word of a sentence. Others (GPU, PyTorch) show by their spelling.
NAMES = {'Chrome', 'Debian', 'Kineto', 'Lightning', 'Linux', 'Perfetto', 'Python', 'Windows'}


def git(*arguments):
    """The output of the git command; None if it fails."""
    try:
        done = subprocess.run(['git', '-C', str(ROOT), *arguments], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


def subjects():
    """(hash, subject) of the commits to check, the newest first."""
    if (git('rev-parse', '--show-cdup') or 'none').strip():
        return []  # no git, or the sources lie in another project's repository
    if git('merge-base', '--is-ancestor', LAST_FAULT, 'HEAD') is not None:
        commits = f'{LAST_FAULT}..HEAD'
    elif (git('rev-parse', '--is-shallow-repository') or '').strip() == 'true':
        commits = 'HEAD'
    else:
        return []
    lines = (git('log', '--no-merges', '--format=%h %s', commits) or '').splitlines()
    return [tuple(line.split(' ', 1)) for line in lines]


def fault(subject):
    """What is wrong with a subject; '' if nothing."""
    if len(subject) > CHARACTERS:
        return f'{len(subject)} characters, over {CHARACTERS}'
    area = AREA.match(subject)
    if area is None:
        return 'not `area: summary`'
    word = re.match(r'\w*', subject[area.end():])[0]
    if re.fullmatch('[A-Z][a-z]*', word) and word not in NAMES:
        return f'"{word}" begins with a capital'
    return ''


def main():
    judged = subjects()
    found = [f'{commit}: {wrong}: {subject}' for commit, subject in judged if (wrong := fault(subject))]
    print('\n'.join(found) or f'commits: {len(judged)} subjects, fine')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
