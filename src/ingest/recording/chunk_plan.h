// Works out from the headers alone who wrote each chunk and when, and cuts the recording into
// stretches that can be decoded in parallel.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ingest/chunks/chunk_set.h"
#include "ingest/chunks/stored_chunk.h"
#include "ingest/decode/record_decoder.h"
#include "store/store.h"

namespace batchlight {

struct ChunkPlan {
  int64_t zero_ns = 0;                 // CLOCK_MONOTONIC of time 0
  std::vector<int64_t> attach_ns;      // by process row, CLOCK_MONOTONIC
  std::vector<ChunkPlace> places;      // by chunk
  std::vector<size_t> stretch_begins;  // first chunks of the stretches, and the end
};

// Leaves out what RecordedParts::since_ns does not open.
void DropChunksBefore(int64_t since_ns, ChunkSet& set);

// `chunks` are in the order of ChunkSet, those from before `since_ns` for their facts. Adds a row
// to `store` for each process and thread seen. Time 0 is the base of the tool's first chunk or,
// without one, the first attach.
ChunkPlan PlanChunks(std::span<const StoredChunk> chunks, int64_t since_ns, Store& store);

}  // namespace batchlight
