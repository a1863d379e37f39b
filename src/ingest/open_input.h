// The single entry point for every kind of input: a file or folder in, a store out.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "store/store.h"

namespace batchlight {

// What a path holds, decided by its first bytes and never by its name.
enum class InputFormat { kSealedRecording, kLiveFolder, kNsysSqlite, kKinetoJson, kUnknown };

// Lets the caller skip work whose result it does not need.
struct InputUse {
  bool operators = true;       // that nsys wrote as NVTX ranges (emit_nvtx.h)
  bool doubled_calls = false;  // both rows of a CUDA call that nsys holds twice
};

// `path` is a sealed recording (.batchlight), a live folder (.batchlight.live), an nsys SQLite
// export or a torch.profiler/Kineto JSON, plain or gzip. If NAME.batchlight is missing but
// NAME.batchlight.live exists (the run goes on, or ended without sealing), the folder is opened and
// a row in `reasons` (feature "input") says so. Errors: kInput, naming path and reason.
Result<Store> OpenInput(const std::string& path, const InputUse& use = {});

// What reading left out, did not find or found cut: one sentence each, without a full stop.
std::vector<std::string> ReadingNotes(const Store& store);

// Errors: kInput when the path is missing or not readable.
Result<InputFormat> DetectFormat(const std::string& path);

}  // namespace batchlight
