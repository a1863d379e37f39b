#include "ingest/cuda_decoder.h"

namespace batchlight {

bool DecodeCudaRecord(const format::RecordView&, ChunkContext&) { return false; }

}  // namespace batchlight
