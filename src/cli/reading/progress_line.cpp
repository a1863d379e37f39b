#include "cli/reading/progress_line.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/printable_text.h"
#include "capture/loop/clock.h"

namespace batchlight::cli {
namespace {

constexpr int64_t kFirstNs = 300'000'000;
constexpr int64_t kEveryNs = 100'000'000;

// One line: names of files may hold anything.
std::string OneLine(const std::string& text) {
  std::string line = PrintableText(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return line;
}

bool CanEraseLines() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

}  // namespace

ProgressLine::ProgressLine() : on_terminal_(CanEraseLines()) {}

void ProgressLine::Show(const std::string& what, double share) {
  if (!on_terminal_) return;
  const int64_t now = capture::MonotonicNow();
  if (next_ns_ == 0) next_ns_ = now + kFirstNs;
  if (now < next_ns_) return;
  next_ns_ = now + kEveryNs;
  visible_ = true;
  std::fprintf(stderr, "\r\033[Kbatchlight: %s %.0f %%", OneLine(what).c_str(), share * 100);
  std::fflush(stderr);
}

void ProgressLine::Announce(const std::string& what) {
  if (!on_terminal_) return;
  visible_ = true;
  std::fprintf(stderr, "\r\033[Kbatchlight: %s", OneLine(what).c_str());
  std::fflush(stderr);
}

void ProgressLine::Clear() {
  if (visible_) std::fputs("\r\033[K", stderr);
  visible_ = false;
  next_ns_ = 0;
}

}  // namespace batchlight::cli
