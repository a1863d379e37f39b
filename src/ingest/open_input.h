// The single entry point for every kind of input: a file or folder in, a store out.
#pragma once

#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/status.h"
#include "ingest/decode/recorded_parts.h"
#include "store/store.h"

namespace batchlight {

// What a path holds, decided by its first bytes and never by its name.
enum class InputFormat { kSealedRecording, kLiveFolder, kNsysSqlite, kKinetoJson, kUnknown };

// Lets the caller skip work whose result it does not need.
struct InputUse {
  bool operators = true;       // that nsys wrote as NVTX ranges (emit_nvtx.h)
  bool doubled_calls = false;  // both rows of a CUDA call that nsys holds twice
  RecordedParts recorded;      // of a recording of our own
};

// `path` is a sealed recording (.batchlight), a live folder (.batchlight.live), an nsys SQLite
// export or a torch.profiler/Kineto JSON, plain or gzip. What is read in its place (PlaceOfInput)
// is the store's source; a row in `reasons` says that a live folder is not sealed. Errors: kInput,
// naming path and reason.
Result<Store> OpenInput(const std::string& path, const InputUse& use = {});

// A sealed recording that is open already: `path` is what it is called, and is not opened.
Result<Store> OpenSealed(MappedFile file, const std::string& path);

// The file or folder that is read when `path` is asked for: NAME.batchlight.live where
// NAME.batchlight is missing (the run goes on, or ended without sealing), NAME.sqlite for
// NAME.nsys-rep, which only nsys reads. Errors (kInput): no such export.
Result<std::string> PlaceOfInput(const std::string& path);

// What reading left out, did not find or found cut: one sentence each, without a full stop.
std::vector<std::string> ReadingNotes(const Store& store);

// Errors: kInput when the path is missing or not readable.
Result<InputFormat> DetectFormat(const std::string& path);

}  // namespace batchlight
