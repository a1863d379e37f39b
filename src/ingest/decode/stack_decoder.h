// Places in Python code: the functions and frames that a chunk defines, and what refers to them.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "ingest/decode/chunk_context.h"

namespace batchlight {

class StackDecoder {
 public:
  explicit StackDecoder(ChunkContext& context) : context_(context) {}

  void BeginChunk();
  void Decode(const format::RecordView& view);

  // The fragment's row of a PythonStack of this chunk; None for 0 and for ids never defined.
  PythonStackId Stack(uint32_t id) const {
    return id < stacks_.size() ? stacks_[id] : PythonStackId::None();
  }

 private:
  struct Code {
    StringId file;
    StringId function;
    uint32_t first_line = 0;
  };

  void DefineCode(const format::RecordView& view);
  void DefineStack(const format::RecordView& view);
  void TakeSample(const format::RecordView& view);
  void TakeAllocation(const format::RecordView& view);
  PythonFrameId FrameOf(const Code& code, uint32_t line);

  ChunkContext& context_;
  // Of this chunk, by id.
  std::vector<Code> codes_;
  std::vector<PythonStackId> stacks_;
  size_t max_id_ = 0;
  // Of the fragment, whose chunks define the same again and again.
  std::map<std::tuple<StringId, StringId, uint32_t, uint32_t>, PythonFrameId> frame_rows_;
  std::map<std::pair<PythonFrameId, PythonStackId>, PythonStackId> stack_rows_;
};

}  // namespace batchlight
