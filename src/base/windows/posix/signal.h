#pragma once

#include_next <signal.h>
#include <sys/types.h>
