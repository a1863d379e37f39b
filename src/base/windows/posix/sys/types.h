// With the names that Windows' C library lacks; as everywhere in this folder.
#pragma once

#include_next <sys/types.h>

typedef unsigned uid_t;
typedef unsigned gid_t;
typedef _sigset_t sigset_t;
