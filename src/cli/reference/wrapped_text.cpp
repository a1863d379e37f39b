#include "cli/reference/wrapped_text.h"

#include "base/split.h"

namespace batchlight::cli {

std::string Wrapped(std::string_view text, size_t indent, size_t column) {
  std::string wrapped;
  const std::string margin = "\n" + std::string(indent, ' ');
  bool first_line = true;
  for (const std::string_view line : SplitAt(text, '\n')) {
    if (!first_line) {
      wrapped += margin;
      column = indent;
    }
    first_line = false;
    bool line_is_empty = true;
    for (const std::string_view word : SplitAt(line, ' ')) {
      if (!line_is_empty && column + 1 + word.size() > kHelpWidth) {
        wrapped += margin;
        column = indent;
        line_is_empty = true;
      }
      if (!line_is_empty) wrapped += ' ';
      column += word.size() + (line_is_empty ? 0 : 1);
      wrapped += word;
      line_is_empty = false;
    }
    while (wrapped.ends_with(' ')) wrapped.pop_back();
  }
  return wrapped;
}

}  // namespace batchlight::cli
