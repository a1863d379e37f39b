// The context of a record: whose it is, when it happened, and what its string ids mean. One per
// fragment; RecordDecoder moves it from chunk to chunk.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "format/decode.h"
#include "ingest/chunks/chunk_clock.h"
#include "ingest/decode/fragment.h"

namespace batchlight {

// Bytes of a recording may be anything: a number beyond the last kind is the first.
template <typename Kind>
Kind KindOr(uint32_t number, Kind last) {
  return number <= Number(last) ? static_cast<Kind>(number) : Kind{};
}

class ChunkContext {
 public:
  // `zero_ns`: CLOCK_MONOTONIC of the recording's time 0.
  ChunkContext(Fragment& target, int64_t zero_ns) : fragment(target), zero_ns_(zero_ns) {}

  Fragment& fragment;
  ProcessId process;  // None in the tool's own chunks
  ThreadId thread;

  void BeginChunk(const format::ChunkView& chunk, const ChunkClock& clock) {
    clock_ = clock;
    now_ns_ = clock.floor_ns();
    strings_.assign(1, {});
    // A definition takes at least 16 bytes, so a larger id is damage and must not cost memory.
    chunk_bytes_ = chunk.bytes.size();
    max_string_ = chunk_bytes_ / 16;
  }

  void DefineString(uint32_t id, std::string_view text) {
    if (id == 0 || id > max_string_) return;
    if (id >= strings_.size()) strings_.resize(id + 1);
    strings_[id] = {text, StringId::None(), true};
  }

  // The fragment's id of a string of this chunk; None for 0 and for ids never defined. Only strings
  // that are asked for enter the store, so binary keys never do.
  StringId String(uint32_t ref) {
    if (ref >= strings_.size() || !strings_[ref].defined) return StringId::None();
    DefinedString& string = strings_[ref];
    if (string.id.IsNone()) string.id = fragment.store.strings.Intern(string.text);
    return string.id;
  }
  // Valid while the chunk is being decoded.
  std::string_view Text(uint32_t ref) const {
    return ref < strings_.size() ? strings_[ref].text : std::string_view();
  }
  size_t chunk_bytes() const { return chunk_bytes_; }
  size_t string_count() const { return strings_.size(); }

  // Time of a record whose ticks may be out of order.
  int64_t Time(uint64_t ticks) const { return clock_.ToNs(ticks); }
  // Time of a record that the thread wrote as it happened: never before the one before it, so that
  // rows come out in the order of the store.
  int64_t Now(uint64_t ticks) { return now_ns_ = std::max(now_ns_, clock_.ToNs(ticks)); }
  int64_t LengthNs(uint64_t ticks) const { return clock_.LengthNs(ticks); }
  // CLOCK_MONOTONIC to the recording's clock.
  int64_t FromMonotonic(int64_t monotonic_ns) const;

  int64_t now_ns() const { return now_ns_; }

 private:
  struct DefinedString {
    std::string_view text;  // in the chunk
    StringId id;            // once it is in the store
    bool defined = false;
  };

  ChunkClock clock_;
  std::vector<DefinedString> strings_;
  size_t chunk_bytes_ = 0;
  size_t max_string_ = 0;
  int64_t zero_ns_ = 0;
  int64_t now_ns_ = 0;
};

inline int64_t ChunkContext::FromMonotonic(int64_t monotonic_ns) const {
  int64_t ns = 0;
  return __builtin_sub_overflow(monotonic_ns, zero_ns_, &ns) ? 0 : ns;
}

}  // namespace batchlight
