// Statuses of ended processes, as Linux codes them: recordings hold such, and base/child.h gives
// them.
#pragma once

#define WTERMSIG(status) ((status)&0x7f)
#define WIFEXITED(status) (WTERMSIG(status) == 0)
#define WIFSIGNALED(status) (!WIFEXITED(status))
#define WEXITSTATUS(status) (((status) >> 8) & 0xff)
