// Records of exact counts: functions, their callers and lines. A chunk's counts become rows of
// their own; AddUpPython() adds up the rows of a function.
#pragma once

#include <cstdint>
#include <vector>

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
    return id < functions_.size() ? functions_[id] : PythonFunctionId::None();
  }

  ChunkContext& context_;
  std::vector<PythonFunctionId> functions_;  // the fragment's rows, by id of this chunk
};

}  // namespace batchlight
