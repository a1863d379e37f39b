#include "cli/commands/session_choice.h"

#include <algorithm>
#include <vector>

#include "capture/session/session_protocol.h"

namespace batchlight::cli {

Result<std::string> ChooseSession(const std::string& wanted, bool may_be_new) {
  if (!wanted.empty()) {
    RETURN_IF_ERROR(capture::CheckSessionName(wanted));
    return wanted;
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> running, capture::ListSessions());
  const std::string fallback = kDefaultSession;
  if (std::find(running.begin(), running.end(), fallback) != running.end()) return fallback;
  if (running.size() == 1) return running[0];
  if (running.empty() && may_be_new) return fallback;
  if (running.empty()) {
    return InputError("no session is running; `batchlight launch program ...` starts one");
  }
  std::string names;
  for (const std::string& name : running) names += (names.empty() ? "" : ", ") + name;
  return UsageError("several sessions are running (" + names + "): choose with --session=NAME");
}

}  // namespace batchlight::cli
