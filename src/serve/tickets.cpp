#include "serve/tickets.h"

#include "serve/access.h"

namespace batchlight::serve {

Result<std::string> Tickets::New(int64_t now_ms) {
  ASSIGN_OR_RETURN(std::string text, NewToken());
  const std::lock_guard lock(mutex_);
  if (tickets_.size() == kMost) tickets_.pop_front();
  tickets_.push_back({text, now_ms + kLifeMs, false, ""});
  return text;
}

bool Tickets::Take(std::string_view ticket, std::string_view claim, int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  for (Ticket& known : tickets_) {
    if (now_ms >= known.until_ms || !IsToken(known.text, ticket)) continue;
    if (known.is_taken) return IsToken(known.claim, claim);
    known.is_taken = true;
    known.claim = claim;
    return true;
  }
  return false;
}

}  // namespace batchlight::serve
