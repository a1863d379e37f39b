// Records the calls of the C library that the shims report: those of at least the threshold one by
// one, all others as a sum of each thread and call.
#pragma once

#include "inject/osrt/os_api.h"
#include "inject/rt/guard.h"

namespace batchlight::inject::osrt {

// Once, at attach: reads osrt.threshold_ns of ControlPage::extra, which the tool always gives. Does
// nothing without -t osrt.
void PrepareOsCalls();

// nullptr without -t osrt.
const OsApi* Api();

// The process ends, or becomes another program: what it did with the files that are still open.
void SayOpenFiles(const Guard& guard);

// At thread exit.
void ReleaseOsCalls();

}  // namespace batchlight::inject::osrt
