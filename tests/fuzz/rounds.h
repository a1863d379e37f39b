// How long a fuzz test goes on: FUZZ_SECONDS=S so many seconds, FUZZ_ROUNDS=N so many rounds, else
// its usual number of rounds. Round n does the same in each case.
#pragma once

#include <chrono>
#include <cstdlib>

namespace batchlight::fuzz {

class Rounds {
 public:
  explicit Rounds(int usual) : limit_(usual) {
    if (const char* rounds = std::getenv("FUZZ_ROUNDS")) limit_ = std::atoi(rounds);
    if (const char* seconds = std::getenv("FUZZ_SECONDS")) {
      end_ = Clock::now() + std::chrono::seconds(std::atoi(seconds));
      limit_ = -1;
    }
  }
  bool Next() { return limit_ < 0 ? Clock::now() < end_ : done_ < limit_ && ++done_ > 0; }

 private:
  using Clock = std::chrono::steady_clock;
  int limit_;  // negative: until end_
  int done_ = 0;
  Clock::time_point end_;
};

}  // namespace batchlight::fuzz
