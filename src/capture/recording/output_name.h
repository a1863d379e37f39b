// From -o to the names of files.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/status.h"

namespace batchlight::capture {

std::string HostName();

// %p = `pid`, %h = host name, %q{NAME} = environment variable, %% = %. Error (kUsage) on an unknown
// expansion or a variable that is not set. A trailing ".batchlight" is dropped: the result is the
// name without suffix. A name that ends in '/' gets the next free report# in that folder.
Result<std::string> ExpandOutputName(const std::string& pattern, pid_t pid);

// `base`N for the smallest N from 1 such that no recording and no live folder has that name.
std::string NextFreeName(const std::string& base);

// NAME.batchlight, or NAME.<number>.batchlight if the session makes several (number from 1).
std::string RecordingPath(const std::string& name, int number);

// Error (kOutput) if a recording with that name exists.
Status CheckOutputIsFree(const std::string& name, bool several);

}  // namespace batchlight::capture
