#include "ingest/decode/stack_decoder.h"

#include <algorithm>

namespace batchlight {

using format::RecordKind;
using format::RecordView;

namespace {

// Of damaged records too, sums of all rows that there can be must fit.
constexpr uint64_t kLongestSampleNs = 3'600'000'000'000;

}  // namespace

void StackDecoder::BeginChunk() {
  codes_.assign(1, {});
  stacks_.assign(1, {});
  // A definition takes at least 16 bytes, so a larger id is damage and must not cost memory.
  max_id_ = context_.chunk_bytes() / 16;
}

void StackDecoder::Decode(const RecordView& view) {
  switch (view.kind) {
    case RecordKind::kPythonCode:
      return DefineCode(view);
    case RecordKind::kPythonStack:
      return DefineStack(view);
    case RecordKind::kCudaCallStack: {
      const auto record = view.As<format::CudaCallStackRecord>();
      const PythonStackId stack = Stack(record.stack);
      if (stack.IsNone()) return;
      context_.fragment.store.cuda_call_stacks.Append(
          {.process = context_.process, .correlation = record.correlation, .python_stack = stack});
      return;
    }
    case RecordKind::kPythonSample:
      // Other processes cannot speak for a thread that is not theirs.
      if (context_.process.IsNone()) TakeSample(view);
      return;
    case RecordKind::kMemoryAllocated:
      return TakeAllocation(view);
    case RecordKind::kMemoryFreed:
      context_.fragment.memory_frees.push_back({context_.process,
                                                view.As<format::MemoryFreedRecord>().address,
                                                context_.Now(view.ticks)});
      return;
    default:
      return;
  }
}

void StackDecoder::TakeSample(const RecordView& view) {
  const auto record = view.As<format::PythonSampleRecord>();
  const PythonStackId stack = Stack(record.stack);
  if (stack.IsNone()) return;
  const auto nanoseconds = [](uint64_t value) {
    return static_cast<int64_t>(std::min(value, kLongestSampleNs));
  };
  const int64_t at_ns = context_.Time(view.ticks);
  Fragment& fragment = context_.fragment;
  fragment.store.python_samples.Append({.start_ns = at_ns,
                                        .end_ns = at_ns + nanoseconds(record.wall_ns),
                                        .python_stack = stack,
                                        .samples = record.samples,
                                        .cpu_ns = nanoseconds(record.cpu_ns),
                                        .ready_ns = nanoseconds(record.ready_ns),
                                        .gil = KindOr(record.gil, GilState::kWaits)});
  fragment.python_sample_owners.push_back({{record.pid, record.tid}, record.gil_holder});
}

void StackDecoder::TakeAllocation(const RecordView& view) {
  const auto record = view.As<format::MemoryAllocatedRecord>();
  context_.fragment.store.memory_blocks.Append({.start_ns = context_.Now(view.ticks),
                                                .end_ns = kOpenEnd,
                                                .thread = context_.thread,
                                                .address = record.address,
                                                .bytes = record.bytes,
                                                .represented_bytes = record.bytes,
                                                .source = static_cast<MemorySource>(record.source),
                                                .python_stack = Stack(record.stack)});
}

void StackDecoder::DefineCode(const RecordView& view) {
  const auto record = view.As<format::PythonCodeRecord>();
  if (record.id == 0 || record.id > max_id_) return;
  if (record.id >= codes_.size()) codes_.resize(record.id + 1);
  codes_[record.id] = {context_.String(record.file), context_.String(record.function),
                       record.first_line};
}

PythonFrameId StackDecoder::FrameOf(const Code& code, uint32_t line) {
  PythonFramesTable& frames = context_.fragment.store.python_frames;
  const auto [place, added] = frame_rows_.try_emplace(
      {code.file, code.function, code.first_line, line}, PythonFrameId::At(frames.size()));
  if (added) {
    frames.Append({.file = code.file,
                   .function = code.function,
                   .first_line = code.first_line,
                   .line = line});
  }
  return place->second;
}

void StackDecoder::DefineStack(const RecordView& view) {
  const auto record = view.As<format::PythonStackRecord>();
  if (record.id == 0 || record.id > max_id_) return;
  const PythonFrameId frame =
      FrameOf(record.code < codes_.size() ? codes_[record.code] : Code(), record.line);
  const PythonStackId parent = Stack(record.parent);
  PythonStacksTable& stacks = context_.fragment.store.python_stacks;
  const auto [place, added] =
      stack_rows_.try_emplace({frame, parent}, PythonStackId::At(stacks.size()));
  if (added) stacks.Append({.frame = frame, .parent = parent});
  if (record.id >= stacks_.size()) stacks_.resize(record.id + 1);
  stacks_[record.id] = place->second;
}

}  // namespace batchlight
