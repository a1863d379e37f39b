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

 private:
  void Take(const format::OsCallRecord& record, uint64_t ticks);
  void Take(const format::OsCallCountRecord& record);
  void Take(const format::OsFileRecord& record, uint64_t ticks);
  StringId Name(uint32_t call);

  ChunkContext& context_;
  std::vector<StringId> names_;  // of the fragment, by number of the call
};

}  // namespace batchlight
