#include "cli/reading/standard_output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/partial_file.h"
#include "base/printable_text.h"
#include "base/terminal.h"

namespace batchlight::cli {

Status FailedOut() {
  EndIfUnread();
  return OutputError(std::string("cannot write to standard output: ") + std::strerror(errno));
}

Status WriteOut(std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? Status() : FailedOut();
}

Status WriteNamesOut(std::string_view text) {
  static const bool is_terminal = isatty(STDOUT_FILENO) != 0;
  return is_terminal ? WriteOut(PrintableText(text)) : WriteOut(text);
}

Status FinishOut() {
  errno = EIO;  // if the loss was earlier
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 ? Status() : FailedOut();
}

// While a program runs, its signals wait for this; and who did not take a line takes no other.
void SayLine(std::string_view line) {
  constexpr int kPatienceMs = 1000;
  static bool is_taken = true;
  is_taken = WritePatiently(stderr, PrintableText(line) + "\n", is_taken ? kPatienceMs : 0);
}

}  // namespace batchlight::cli
