#!/usr/bin/env python3
"""Checks what libbatchlight_inject.so and the libraries of shims bring into a training process: what they
link, export and call. A failure here is a promise of ARCHITECTURE.md (invariant 1) broken.

    tools/check_inject_so.py LIBRARY EXPORTS_MAP
"""

import os
import re
import subprocess
import sys

MAX_BYTES = 272 * 1024
CONSTRUCTORS = 2  # the compiler's frame_dummy, and what attaches
OLDEST_GLIBC = (2, 17)  # RHEL 7, and so manylinux2014
NEEDED = {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
# Before glibc 2.34 what the shims stand in front of was in libraries of its own.
NEEDED_BY_SHIMS = {"libdl.so.2", "libpthread.so.0"}

# What may be imported from the C library, and why each is harmless: it neither allocates through
# the program's malloc, nor locks what the program may hold, nor prints, nor ends the process.
ALLOWED = {
    "text": "memcpy memmove memset memcmp memchr strlen strnlen strcmp strncmp strchr strrchr strstr "
            "strspn strcspn",
    "the kernel": "syscall mmap munmap madvise clock_gettime getauxval getenv environ "
                  "__environ __errno_location",
    "once, when attaching": "sigaction on_exit __register_atfork pthread_key_create dlsym dl_iterate_phdr",
    "once a thread": "pthread_setspecific",
    "once, in a CUDA program": "dladdr dlopen __cxa_atexit sigfillset pthread_self pthread_create "
                               "pthread_sigmask pthread_setname_np pthread_attr_init "
                               "pthread_attr_destroy pthread_attr_setstacksize "
                               "pthread_attr_setdetachstate",
    "the shims', when they are loaded": "dlvsym gnu_get_libc_version batchlight_os_api batchlight_memory_api "
                                        "batchlight_timer_api "
                                        "__asan_init __tsan_init __msan_init __hwasan_init",
    "the toolchain's": "__cxa_finalize __getauxval __gmon_start__ _ITM_deregisterTMCloneTable "
                       "_ITM_registerTMCloneTable __stack_chk_fail",
}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(library):
    return set(re.findall(r"\(NEEDED\).*\[(.*?)\]", run("readelf", "-dW", library)))


def symbols(library):
    """(imports, exports): {name: version} of undefined and of defined dynamic symbols."""
    imports, exports = {}, {}
    for line in run("readelf", "--dyn-syms", "-W", library).splitlines():
        fields = line.split()
        if len(fields) < 8 or not fields[0].rstrip(":").isdigit():
            continue
        bind, index, symbol = fields[4], fields[6], fields[7]
        name, _, version = symbol.partition("@")
        if bind == "LOCAL" or not name:
            continue
        (imports if index == "UND" else exports)[name] = version.lstrip("@")
    return imports, exports


def too_new(imports):
    """A problem for each import that an old C library lacks."""
    for name, version in sorted(imports.items()):
        match = re.match(r"GLIBC_(\d+)\.(\d+)", version)
        if match and tuple(map(int, match.groups())) > OLDEST_GLIBC:
            yield f"imports {name}@{version}: newer than glibc {'.'.join(map(str, OLDEST_GLIBC))}"


def mapped_exports(path):
    text = re.sub(r"/\*.*?\*/", "", open(path).read(), flags=re.S)
    section = text[text.index("global:") + len("global:") : text.index("local:")]
    return {name.strip() for name in section.split(";") if name.strip()}


def constructors(library):
    """How many functions run when the library is loaded."""
    array = re.search(r" \.init_array\s+INIT_ARRAY\s+\S+\s+\S+\s+([0-9a-f]+)", run("readelf", "-SW", library))
    return int(array[1], 16) // 8 if array else 0


def check(library, exports_map):
    problems = []
    shims = "inject" not in os.path.basename(library)
    extra = needed(library) - NEEDED - (NEEDED_BY_SHIMS if shims else set())
    if extra:
        problems.append(f"links {sorted(extra)}: only libc may be linked")
    imports, exports = symbols(library)
    wanted = mapped_exports(exports_map)
    if set(exports) != wanted:
        problems.append(f"exports differ from exports.map: extra {sorted(set(exports) - wanted)}, "
                        f"missing {sorted(wanted - set(exports))}")
    allowed = {name for names in ALLOWED.values() for name in names.split()}
    for name in sorted(imports):
        if name not in allowed:
            problems.append(f"imports {name}: add it to ALLOWED with a reason, or do without")
    problems += too_new(imports)
    size = int(run("size", "-A", library).rsplit("Total", 1)[1])
    code = sum(int(fields[1]) for fields in map(str.split, run("size", "-A", library).splitlines())
               if fields and fields[0] in (".text", ".rodata", ".data", ".eh_frame", ".data.rel.ro"))
    if code > MAX_BYTES:
        problems.append(f"{code} bytes of code and data: more than {MAX_BYTES} (in all {size})")
    # One that a C++ object brings may run after ours has filled the object in, by the order of linking.
    if constructors(library) > CONSTRUCTORS:
        problems.append(f"{constructors(library)} constructors, more than the compiler's and ours: make each object "
                        "constinit (nm -C names them: _GLOBAL__sub_I_...)")
    # The whole thread-local block must fit into the space reserved for libraries loaded later.
    tls = re.search(r"^\s*TLS\s+\S+\s+\S+\s+\S+\s+\S+\s+(0x[0-9a-f]+)", run("readelf", "-lW", library),
                    re.M)
    if tls and int(tls[1], 16) > 256:
        problems.append(f"{int(tls[1], 16)} bytes of thread-local storage: more than 256")
    return problems


def main():
    library, exports_map = sys.argv[1:3]
    problems = check(library, exports_map)
    for problem in problems:
        print(f"{os.path.basename(library)} {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
