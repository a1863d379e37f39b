// Runs the program as it is, with nothing of ours in it: what --measure-overhead compares with.
#pragma once

#include "base/status.h"
#include "capture/recording/options.h"

namespace batchlight::capture {

struct PlainEnd {
  int exit_code = 0;         // as a shell gives it: 128 + signal if one ended it
  int64_t wall_ns = 0;       // from its start to its end
  bool interrupted = false;  // Ctrl-C at the terminal ended it
  bool others_know = false;  // as who is in the tool's group got it as well
  std::string problem;       // not empty: it could not be started, and why
};

// The same command, user and environment as a session of `options` has, without what brings the
// recorder in. Signals reach the program as under a session. Returns when the program has ended
// and, with wait_all, all that it left behind; not much longer where the job was asked to end.
Result<PlainEnd> RunPlain(const SessionOptions& options);

}  // namespace batchlight::capture
