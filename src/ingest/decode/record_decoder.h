// Decodes chunks into a fragment: knows which records belong together and passes each kind to its
// decoder.
//
// A new source of events adds a decoder beside these and one case in Decode(). If its rows need the
// whole recording, it also adds a step in join_fragments.cpp or, like cuda_join.cpp, after it.
#pragma once

#include "ingest/decode/call_decoder.h"
#include "ingest/decode/chunk_context.h"
#include "ingest/decode/counter_decoder.h"
#include "ingest/decode/cpu_decoder.h"
#include "ingest/decode/cuda_decoder.h"
#include "ingest/decode/nvtx_decoder.h"
#include "ingest/decode/os_decoder.h"
#include "ingest/decode/python_decoder.h"
#include "ingest/decode/recorded_parts.h"
#include "ingest/decode/stack_decoder.h"

namespace batchlight {

// Where a chunk belongs, worked out from the headers of all chunks.
struct ChunkPlace {
  ProcessId process;
  ThreadId thread;
  ChunkClock clock;
  bool begins_thread = false;  // first chunk of its thread
  bool after_gap = false;      // chunks of the thread are missing before it
  bool new_capture = false;    // collection was off before it
  bool facts_only = false;     // its calls and ranges are not wanted
};

class RecordDecoder {
 public:
  RecordDecoder(Fragment& fragment, int64_t zero_ns, const RecordedParts& parts)
      : parts_(parts),
        context_(fragment, zero_ns),
        nvtx_(context_, parts_),
        stacks_(context_),
        calls_(context_, stacks_, parts_),
        python_(context_),
        cuda_(context_),
        counters_(context_),
        os_(context_),
        cpu_(context_) {}

  // Chunks come in the order of the store; those of one thread without a break form a piece.
  void DecodeChunk(const format::ChunkView& chunk, const ChunkPlace& place);
  // Must be called after the last chunk.
  void Finish() { EndPiece(); }

 private:
  void BeginPiece(const ChunkPlace& place);
  void EndPiece();
  void Cut(int64_t at_ns);
  void Decode(const format::RecordView& view);
  void DecodeSession(const format::RecordView& view);
  void DecodeProcess(const format::RecordView& view);

  void Skip(const format::RecordView& view);

  RecordedParts parts_;
  bool facts_only_ = false;  // of this chunk
  ChunkContext context_;
  NvtxDecoder nvtx_;
  StackDecoder stacks_;
  CallDecoder calls_;
  PythonDecoder python_;
  CudaDecoder cuda_;
  CounterDecoder counters_;
  OsDecoder os_;
  CpuDecoder cpu_;
  bool in_piece_ = false;
  int64_t piece_first_ns_ = 0;
  int64_t piece_last_ns_ = 0;
};

}  // namespace batchlight
