#!/usr/bin/env python3
"""Packs a build as a wheel, with Python's standard library alone.

    tools/make_wheel.py BUILD FOLDER     writes FOLDER/batchlight-VERSION-py3-none-...whl

One wheel serves every Python from 3.8 on: the tool is static, the injected library needs glibc 2.17,
and the package is plain Python. What is installed is what `cmake --install` installs; the package
`batchlight` lies in site-packages too, for programs that run without the profiler. The same files
give the same bytes: no dates, no order of the file system.
"""
import base64
import hashlib
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MACHINES = {62: 'x86_64', 183: 'aarch64'}  # ELF's e_machine
DATE = (1980, 1, 1, 0, 0, 0)  # the oldest that a zip can hold
METADATA = '''Metadata-Version: 2.1
Name: batchlight
Version: {version}
Summary: Profiler for deep-learning training: what a step is made of, why it is slow, what to change
License: MIT
Requires-Python: >=3.8
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Software Development :: Debuggers
Description-Content-Type: text/markdown

'''
WHEEL = '''Wheel-Version: 1.0
Generator: batchlight
Root-Is-Purelib: false
Tag: {tag}
'''


def version_of(build):
    cache = (build / 'CMakeCache.txt').read_text()
    return re.search(r'^CMAKE_PROJECT_VERSION:STATIC=(.*)$', cache, re.M)[1]


def machine_of(prefix):
    """The processor that all programs and libraries of the install are for."""
    machines = {}
    for path in sorted(p for p in prefix.rglob('*') if p.is_file()):
        with open(path, 'rb') as file:
            head = file.read(20)
        if head[:4] == b'\x7fELF':
            machine = struct.unpack_from('<H', head, 18)[0]
            machines.setdefault(MACHINES.get(machine, f'ELF machine {machine}'), path.relative_to(prefix))
    if len(machines) != 1 or not set(machines) <= set(MACHINES.values()):
        sys.exit(f'make_wheel: one processor of {", ".join(MACHINES.values())} is wanted, not ' +
                 (', '.join(f'{machine} ({path})' for machine, path in machines.items()) or 'no program'))
    return next(iter(machines))


def place(name, version):
    """Where in the wheel a file of the install goes."""
    data = f'batchlight-{version}.data/'
    if name.startswith('bin/'):
        return data + 'scripts/' + name[len('bin/'):]
    return data + 'data/' + name


def entries(prefix, version, tag):
    """{name in the wheel: (bytes, executable)}"""
    found = {}
    for path in sorted(p for p in prefix.rglob('*') if p.is_file()):
        name = path.relative_to(prefix).as_posix()
        content = path.read_bytes(), os.access(path, os.X_OK)
        found[place(name, version)] = content
        package = name.partition('share/batchlight/python/')[2]
        if package:
            found[package] = content
    # Tells the recorder that pip will remove this, and which bytecode that leaves behind.
    found[place('share/batchlight/from_wheel', version)] = b'', False
    info = f'batchlight-{version}.dist-info/'
    metadata = METADATA.format(version=version) + (ROOT / 'python/README.md').read_text()
    found[info + 'METADATA'] = metadata.encode(), False
    found[info + 'WHEEL'] = WHEEL.format(tag=tag).encode(), False
    found[info + 'LICENSE'] = (ROOT / 'LICENSE').read_bytes(), False
    return found


def record(found, name):
    rows = []
    for path, (content, _) in found.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()
        rows.append(f'{path},sha256={digest},{len(content)}\n')
    return ''.join(rows + [f'{name},,\n']).encode()


def write(wheel, found):
    with zipfile.ZipFile(wheel, 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, (content, executable) in found.items():
            entry = zipfile.ZipInfo(path, DATE)
            entry.create_system = 3  # Unix: the mode below counts
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)


def make(build, folder):
    version = version_of(build)
    with tempfile.TemporaryDirectory() as temporary:
        prefix = pathlib.Path(temporary)
        subprocess.run(['cmake', '--install', build, '--prefix', prefix, '--strip'], check=True,
                       stdout=subprocess.DEVNULL)
        tag = f'py3-none-manylinux2014_{machine_of(prefix)}'
        found = entries(prefix, version, tag)
    name = f'batchlight-{version}.dist-info/RECORD'
    found[name] = record(found, name), False
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f'batchlight-{version}-{tag}.whl'
    write(wheel, found)
    return wheel


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(make(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
