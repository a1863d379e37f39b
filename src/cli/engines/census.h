// Which recordings there are, and which machine sees which: all see those of a shared file system,
// one alone those of its own disk.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/engines/engine.h"

namespace batchlight::cli {

// What each place sees; "" is this machine.
using Views = std::map<std::string, std::vector<SeenInput>>;

// Whether a view may be behind another: a path that is not the same everywhere, or that this
// machine alone has.
bool ViewsDiffer(const Views& views);

// One input for each file, in the order of this machine, then of the places.
std::vector<EngineInput> InputsOf(const Views& views);

}  // namespace batchlight::cli
