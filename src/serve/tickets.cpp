#include "serve/tickets.h"

#include "serve/access.h"

namespace batchlight::serve {

Result<std::string> Tickets::New(int64_t now_ms) {
  ASSIGN_OR_RETURN(std::string text, NewToken());
  const std::lock_guard lock(mutex_);
  if (tickets_.size() == kMost) tickets_.pop_front();
  tickets_.push_back({text, now_ms + kLifeMs, ""});
  return text;
}

bool Tickets::Take(std::string_view ticket, std::string_view claim, int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  for (Ticket& known : tickets_) {
    if (now_ms >= known.until_ms || !IsToken(known.text, ticket)) continue;
    if (known.claim.empty()) {
      known.claim = claim.empty() ? "nobody" : claim;
      return true;
    }
    return IsToken(known.claim, claim);
  }
  return false;
}

}  // namespace batchlight::serve
