// What is worth the token once: for an address that is stored where others may read it, as in the
// output of a notebook.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

#include "base/status.h"

namespace batchlight::serve {

// From any thread.
class Tickets {
 public:
  static constexpr int64_t kLifeMs = 5 * 60'000;
  static constexpr size_t kMost = 100;  // the oldest are forgotten

  Result<std::string> New(int64_t now_ms);
  // Whether it is one that nobody has taken, or that was taken with this `claim`: a page that was
  // put away before it had the answer, and comes again.
  bool Take(std::string_view ticket, std::string_view claim, int64_t now_ms);

 private:
  struct Ticket {
    std::string text;
    int64_t until_ms;
    bool is_taken;
    std::string claim;  // "": nobody can take it again
  };

  std::mutex mutex_;
  std::deque<Ticket> tickets_;  // by age
};

}  // namespace batchlight::serve
