// Nothing is recorded on Windows: there is nothing to trace, no session runs, no recording grows.
#include "cli/flags/trace_options.h"
#include "cli/reading/known_sessions.h"
#include "cli/reading/live_input.h"

namespace batchlight::cli {

std::vector<std::string_view> TraceNames() { return {}; }

std::vector<std::string> KnownSessions() { return {}; }

bool IsGrowing(const std::string&) { return false; }

uint64_t VersionOfInput(const std::string&) { return 0; }

}  // namespace batchlight::cli
