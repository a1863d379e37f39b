// Reads a recording of our own, sealed or live, into a store.
#pragma once

#include <string>

#include "base/mapped_file.h"
#include "base/status.h"
#include "ingest/chunks/chunk_set.h"
#include "ingest/decode/recorded_parts.h"
#include "store/store.h"

namespace batchlight {

// `path`: a sealed file or a live folder. Damage costs the damaged chunks only and is counted in
// `losses`. Errors (kInput): not readable, not a recording, made by an incompatible version.
Result<Store> ReadRecording(const std::string& path, const RecordedParts& parts = {});

// Of a sealed file that is open already; `path` is for messages.
Result<Store> ReadRecording(MappedFile file, const std::string& path);

// The second half: chunks into tables. Errors (kInput): too many rows.
Result<Store> ReadChunks(ChunkSet set, const RecordedParts& parts = {});

}  // namespace batchlight
