// Nothing is recorded on Windows: no session runs, and no recording grows.
#include "cli/reading/known_sessions.h"
#include "cli/reading/live_input.h"

namespace batchlight::cli {

std::vector<std::string> KnownSessions() { return {}; }

bool IsGrowing(const std::string&) { return false; }

uint64_t VersionOfInput(const std::string&) { return 0; }

}  // namespace batchlight::cli
