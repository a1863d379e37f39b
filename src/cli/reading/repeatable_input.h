// Lets several runs of a program, one after the other, each read standard input from its start.
#pragma once

#include <sys/types.h>

#include "base/status.h"

namespace batchlight::cli {

class RepeatableInput {
 public:
  // A file is used as it is. Input from a pipe or socket is first read to its end into a temporary
  // file without a name (in TMPDIR), which then becomes standard input. A terminal, and a pipe that
  // stays silent for five seconds, are left alone: the first run that reads gets what they give.
  // Errors: more than 1 GiB, or no room for it.
  static Result<RepeatableInput> Make();

  // Call it before every run but the first.
  void Rewind() const;

 private:
  explicit RepeatableInput(off_t start) : start_(start) {}
  off_t start_;  // of a file; negative = not to be rewound
};

}  // namespace batchlight::cli
