// Records of the C library's calls.
#pragma once

#include <cstdint>
#include <vector>

#include "ingest/decode/chunk_context.h"

namespace batchlight {

class OsDecoder {
 public:
  explicit OsDecoder(ChunkContext& context) : context_(context) {}

  void Decode(const format::RecordView& view);
  // The earliest start of a call since the last such question; kOpenEnd without one. A thread's
  // first record may be the end of a call that began long before.
  int64_t TakeFirstStart();

 private:
  void Take(const format::OsCallRecord& record, uint64_t ticks);
  void Take(const format::OsCallCountRecord& record);
  void Take(const format::OsFileRecord& record, uint64_t ticks);
  StringId Name(uint32_t call);

  ChunkContext& context_;
  std::vector<StringId> names_;  // of the fragment, by number of the call
  int64_t first_start_ns_ = kOpenEnd;
};

}  // namespace batchlight
