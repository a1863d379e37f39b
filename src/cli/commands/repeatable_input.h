// Standard input that several runs of a program read from its start, one after the other.
#pragma once

#include <sys/types.h>

#include "base/status.h"

namespace batchlight::cli {

class RepeatableInput {
 public:
  // A file is read where it lies. What comes through a pipe or socket is read to its end first,
  // into a temporary file (in TMPDIR) that has no name and is standard input from then on. A
  // terminal, and a pipe on which nothing has come in five seconds, stay as they are: the first run
  // that reads takes what they give. Errors: more than 1 GiB, or no room for it.
  static Result<RepeatableInput> Make();

  // Before every run but the first.
  void Rewind() const;

 private:
  explicit RepeatableInput(off_t start) : start_(start) {}
  off_t start_;  // of a file; negative = not to be rewound
};

}  // namespace batchlight::cli
