// Flags of open(). Nothing here follows a link or waits for a pipe's other end, and no child
// process inherits what it is not given.
#pragma once

#include_next <fcntl.h>

#define O_CLOEXEC _O_NOINHERIT
#define O_NONBLOCK 0
#define O_NOCTTY 0
