// One line on stderr that says what is being done; shown only on a terminal and removed when the
// work is done.
#pragma once

#include <cstdint>
#include <string>

namespace batchlight::cli {

class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { Clear(); }

  // "sealing 40 %". Shown at most ten times a second, and not in the first moments: short work
  // shows nothing.
  void Show(const std::string& what, double share);
  // Shown at once, because the work that follows reports nothing until it is done.
  void Announce(const std::string& what);
  void Clear();

 private:
  bool on_terminal_;
  bool visible_ = false;
  int64_t next_ns_ = 0;
};

}  // namespace batchlight::cli
