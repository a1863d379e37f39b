// Walks a Kineto trace window by window, so that its size does not matter.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/memory_budget.h"
#include "base/status.h"
#include "ingest/kineto/byte_source.h"
#include "ingest/kineto/kineto_event.h"

namespace batchlight {

struct KinetoReport {
  uint64_t events = 0;
  uint64_t malformed = 0;        // events skipped because they are not JSON
  uint64_t first_malformed = 0;  // its first byte
  bool is_array = false;         // the root is the array of events itself
  bool has_events = false;       // there is a member traceEvents, or is_array
  std::string cut;               // why reading stopped early; "" = it did not
  uint64_t cut_place = 0;        // byte at which it did, of the unpacked text
  Status memory;                 // an error: reading stopped as it took too much
};

class KinetoReader {
 public:
  // Calls `on_event` for each event and `on_fact` for each other member of the root (value raw), in
  // the order of the file. Their arguments are valid during the call.
  KinetoReader(ByteSource& source, const MemoryWatch& memory,
               std::function<void(const KinetoEvent&)> on_event,
               std::function<void(std::string_view, std::string_view)> on_fact)
      : source_(source),
        memory_(memory),
        on_event_(std::move(on_event)),
        on_fact_(std::move(on_fact)) {}

  // Errors (kInput): the root is neither object nor array, or nothing could be read at all.
  Result<KinetoReport> Read();

 private:
  enum class Parsed { kWhole, kEnded, kMalformed };

  std::string_view Rest() const { return std::string_view(window_).substr(at_); }
  uint64_t Place() const { return window_place_ + at_; }
  bool Refill();
  template <typename Parse>
  Parsed Retry(Parse&& parse);
  Status ReadRoot();
  void ReadMembers();
  bool SkipLongMember(bool first);
  void ReadEvents();
  bool SkipMalformed(Parsed why);
  bool FindEvent();
  bool FindEndOfEvents();
  void Cut(std::string why, uint64_t place);
  bool IsTired() const;

  ByteSource& source_;
  const MemoryWatch& memory_;
  std::function<void(const KinetoEvent&)> on_event_;
  std::function<void(std::string_view, std::string_view)> on_fact_;
  KinetoReport report_;
  KinetoEvent event_;
  std::string window_;         // bytes read and not yet used, from at_
  uint64_t window_place_ = 0;  // of its first byte in the trace
  size_t at_ = 0;
  uint64_t parsed_in_vain_bytes_ = 0;
  bool at_end_ = false;
};

}  // namespace batchlight
