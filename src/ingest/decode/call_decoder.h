// Records of Python and PyTorch: modules, phases, operators.
#pragma once

#include <array>
#include <vector>

#include "ingest/decode/chunk_context.h"
#include "ingest/decode/outside_rows.h"
#include "ingest/decode/stack_decoder.h"

namespace batchlight {

class CallDecoder {
 public:
  CallDecoder(ChunkContext& context, const StackDecoder& stacks, const RecordedParts& parts)
      : context_(context), stacks_(stacks), outside_modules_(parts), outside_operators_(parts) {}

  void BeginPiece();
  void BeginChunk() { inputs_.clear(); }
  void Decode(const format::RecordView& view);
  // Events are missing from here on: calls still open end at `at_ns`.
  void Cut(int64_t at_ns);
  void EndPiece();

 private:
  void BeginModule(const format::RecordView& view);
  void BeginPhase(const format::RecordView& view);
  void BeginOperator(const format::RecordView& view);
  struct InputTexts {
    StringId shapes;
    StringId inputs;
  };
  InputTexts Inputs(uint32_t ref);

  ChunkContext& context_;
  const StackDecoder& stacks_;
  Nesting modules_;
  Nesting phases_;
  Nesting operators_;
  OutsideRows outside_modules_;
  OutsideRows outside_operators_;
  std::vector<InputTexts> inputs_;  // of this chunk, by string ref; None = not yet made
};

}  // namespace batchlight
