#!/usr/bin/env python3
"""Checks that the programs start on every Linux of their processor: the tool needs no library of the
machine, host_query only an old C library.

    tools/check_programs.py BUILD TOOL HOST_QUERY
"""

import os
import pathlib
import sys

from check_inject_so import needed, run, symbols, too_new

HOST_QUERY_NEEDS = {"libc.so.6", "libdl.so.2", "ld-linux-aarch64.so.1"}
# What a static glibc does by loading libraries of the machine, which must then be of its own version.
LOADS_LIBRARIES = set("""
    dlopen dlmopen dlsym iconv_open getaddrinfo getnameinfo gethostbyname gethostbyaddr getservbyname
    getprotobyname getpwnam getpwuid getpwnam_r getpwuid_r getpwent getgrnam getgrgid getgrnam_r
    getgrgid_r getgrent getgrouplist initgroups getspnam""".split())


def check_tool(tool):
    if "INTERP" in run("readelf", "-lW", tool):
        yield "asks for a program interpreter: it is not static"
    if needed(tool):
        yield f"needs {sorted(needed(tool))}: it is not static"
    # lld lists __tls_get_addr, which nothing in the program uses; what counts has a version.
    imports = {name: version for name, version in symbols(tool)[0].items() if version}
    if imports:
        yield f"imports {imports}"
    if "FLAGS_1) " not in run("readelf", "-dW", tool):
        yield "is not position-independent"


def check_host_query(program):
    extra = needed(program) - HOST_QUERY_NEEDS
    if extra:
        yield f"needs {sorted(extra)}: only the C library may be linked"
    imports, _ = symbols(program)
    if "dlopen" not in imports or "getpwnam" not in imports:
        yield "asks nothing of the machine"
    yield from too_new(imports)


def check_objects(build):
    """Our own code of the tool. Libraries may hold such calls, in what we do not use of them."""
    objects = [path for pattern in ("src/**/libbl_*.a", "src/cli/CMakeFiles/batchlight.dir/**/*.o")
               for path in sorted(build.glob(pattern))]
    if not objects:
        yield f"has no objects in {build}"
    for line in run("nm", "-A", "-u", *objects).splitlines():
        place, _, name = line.rpartition(" U ")
        if name.strip() in LOADS_LIBRARIES:
            yield f"{os.path.relpath(place.strip(), build)} calls {name.strip()}: ask host_query (src/host)"


def main():
    build, tool, host_query = map(pathlib.Path, sys.argv[1:4])
    problems = [f"{tool.name} {problem}" for problem in check_tool(tool)]
    problems += [f"{host_query.name} {problem}" for problem in check_host_query(host_query)]
    problems += check_objects(build)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
