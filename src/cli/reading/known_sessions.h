// The sessions that run, for whoever completes a command line.
#pragma once

#include <string>
#include <vector>

namespace batchlight::cli {

// Their names; none where they cannot be listed.
std::vector<std::string> KnownSessions();

}  // namespace batchlight::cli
