// Writes events of Chrome's trace format, one line each: what all parts of -t chrome share. Names
// must be escaped already; times are those of the store.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "export/exporter.h"
#include "export/text_buffer.h"

namespace batchlight {

class ChromeFile {
 public:
  ChromeFile(const Store& store, const ExportOptions& options, TextBuffer& out);

  // Unix time of the file's time 0: the start rounded down to three months, as Kineto does, so that
  // the files of all ranks share it.
  int64_t base_ns() const { return base_ns_; }
  // Each name is escaped once.
  const std::string& Escaped(StringId id);

  // A slice up to its `args`, whose members the caller adds, and End().
  void Begin(std::string_view category, std::string_view name, int64_t pid, int64_t tid,
             int64_t start_ns, int64_t end_ns);
  TextBuffer& Arg(std::string_view key);
  void TextArg(std::string_view key, std::string_view escaped) {
    Arg(key) << '"' << escaped << '"';
  }
  void Members(std::string_view json);  // of `args`, several at once; "": none
  // Flushes now and then.
  Status End();

  // `members` of `args`, as JSON; "": none.
  void Instant(std::string_view category, std::string_view name, int64_t pid, int64_t tid,
               int64_t at_ns, std::string_view members);
  // One side of an event that need not nest: phase 'b' or 'e'.
  void Async(char phase, uint64_t id, std::string_view name, int64_t pid, int64_t tid,
             int64_t at_ns, std::string_view members);
  // One side of an arrow: phase 's' or 'f'. It binds to the slice at that time.
  void Arrow(char phase, std::string_view category, uint64_t id, int64_t pid, int64_t tid,
             int64_t at_ns);
  void Counter(std::string_view name, int64_t pid, std::string_view series, int64_t value,
               int64_t at_ns);
  void Metadata(std::string_view what, int64_t pid, int64_t tid, std::string_view key,
                std::string_view escaped);

  TextBuffer& out() { return out_; }
  uint64_t events() const { return events_; }

 private:
  void Head(char phase, std::string_view name, int64_t pid, int64_t tid, int64_t at_ns);

  const Store& store_;
  TextBuffer& out_;
  std::vector<std::string> escaped_;  // by string row
  int64_t base_ns_ = 0;
  int64_t offset_ns_ = 0;
  uint64_t events_ = 0;
  bool first_ = true;
  bool first_arg_ = true;
};

}  // namespace batchlight
