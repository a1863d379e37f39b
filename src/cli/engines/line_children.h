// Programs that run beside the tool and write lines, several at a time: whichever speaks next is
// heard. All have ended when this ends, and are told to when SIGTERM or SIGHUP ends the tool.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/child.h"
#include "base/status.h"

namespace batchlight::cli {

class LineChildren {
 public:
  struct Event {
    size_t id = 0;
    bool ended = false;
    std::string line;     // without its end
    std::string said;     // of one that ended: the last of its standard error
    int wait_status = 0;  // likewise
  };

  LineChildren();
  LineChildren(const LineChildren&) = delete;
  LineChildren& operator=(const LineChildren&) = delete;
  ~LineChildren();

  // `listens`: it reads what Say() writes; else its input is empty. Errors: kUsage, it cannot be
  // started.
  Status Start(size_t id, const std::vector<std::string>& words, bool listens = false);
  // Errors: kInput, it has closed its input.
  Status Say(size_t id, std::string_view text);
  // Blocks. Only while any() is true.
  Event Next();
  bool any() const { return !children_.empty(); }

 private:
  struct Running {
    pid_t pid = -1;
    int input = -1;
    int output = -1;  // -1: closed
    int error = -1;
    std::string unread;   // of a line that has not ended
    size_t searched = 0;  // so much of it is known to end no line
    std::string said;
    bool ended() const { return output < 0 && error < 0; }
  };

  void ReadSome();
  static void Take(int& fd, bool is_output, Running& child);
  bool FindEvent(Event* event);

  std::map<size_t, Running> children_;
  void (*old_pipe_handler_)(int);
  void (*old_handlers_[2])(int);  // of what ends the tool
};

}  // namespace batchlight::cli
