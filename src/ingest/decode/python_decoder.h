// Records of exact counts: functions, their callers and lines. A chunk's counts become rows of
// their own; AddUpPython() adds up the rows of a function.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "ingest/decode/chunk_context.h"

namespace batchlight {

class PythonDecoder {
 public:
  explicit PythonDecoder(ChunkContext& context) : context_(context) {}

  void BeginChunk() { functions_.clear(); }
  void Decode(const format::RecordView& view);

 private:
  void Take(const format::PythonFunctionRecord& record);
  void Take(const format::PythonCallerRecord& record);
  void Take(const format::PythonLineRecord& record);
  void Take(const format::PythonSourceRecord& record);
  PythonFunctionId Function(uint32_t id) const {
    const auto function = functions_.find(id);
    return function != functions_.end() ? function->second : PythonFunctionId::None();
  }

  ChunkContext& context_;
  // The fragment's rows, by id. A thread numbers all functions that it meets, and a chunk has those
  // that were counted in it: an id says nothing of how many there are.
  std::unordered_map<uint32_t, PythonFunctionId> functions_;
};

}  // namespace batchlight
