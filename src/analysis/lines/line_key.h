// One row of whatever is told by line of Python: a place, and what of it.
#pragma once

#include <compare>
#include <cstdint>

#include "analysis/lines/line_times.h"

namespace batchlight {

struct LineKey {
  LineKind kind = LineKind::kLine;
  StringId file;  // None: no line is known
  uint32_t line = 0;

  auto operator<=>(const LineKey&) const = default;
};

inline LineKey KeyOfLine(const Store& store, LineKind kind, PythonFrameId frame) {
  if (frame.IsNone()) return {.kind = kind};
  return {.kind = kind,
          .file = store.python_frames.file[frame.row()],
          .line = store.python_frames.line[frame.row()]};
}

}  // namespace batchlight
