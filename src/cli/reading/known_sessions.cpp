#include "cli/reading/known_sessions.h"

#include "capture/session/session_protocol.h"

namespace batchlight::cli {

std::vector<std::string> KnownSessions() {
  auto names = capture::ListSessions();
  return names.ok() ? std::move(names).value() : std::vector<std::string>();
}

}  // namespace batchlight::cli
