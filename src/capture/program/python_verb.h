// Commands that are written in Python (python/batchlight/__main__.py).
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace batchlight::capture {

// PYTHONPATH for an interpreter of ours: without empty and relative entries, which mean the present
// folder or lie in it, and it may be anybody's.
std::string PythonPathOfOurs();

// How to start `verb` of the package: with the python3 of the virtual environment that holds this
// program, else with the one on PATH. From here on this process has PythonPathOfOurs(); the user's
// own is in BATCHLIGHT_PYTHONPATH, which the verb puts back for what it starts.
Result<std::vector<std::string>> PythonWords(const std::string& verb,
                                             const std::vector<std::string>& words);
// The error (kUsage) if that python3 cannot be started.
Status NoPython(const std::string& verb, int error);

// This process becomes that. Returns only with an error.
Status BecomePython(const std::string& verb, const std::vector<std::string>& words);

}  // namespace batchlight::capture
