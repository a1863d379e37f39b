// Records of CUDA (64-127): extension point of RecordDecoder.
#pragma once

#include "ingest/chunk_context.h"

namespace batchlight {

// Takes the record into the fragment; false if its kind is unknown.
bool DecodeCudaRecord(const format::RecordView& view, ChunkContext& context);

}  // namespace batchlight
