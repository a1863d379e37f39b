// The one door to everything that can be looked at: a file or folder in, a store out.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "store/store.h"

namespace batchlight {

// What a path holds, told by its first bytes and never by its name.
enum class InputFormat { kSealedRecording, kLiveFolder, kNsysSqlite, kKinetoJson, kUnknown };

// What the caller does not look at need not be worked out.
struct InputUse {
  bool operators = true;  // that nsys wrote as NVTX ranges (emit_nvtx.h)
};

// `path` is a sealed recording (.batchlight), a live folder (.batchlight.live), an nsys SQLite
// export or a torch.profiler/Kineto JSON, plain or gzip. Where NAME.batchlight is missing and
// NAME.batchlight.live is there (the run goes on, or ended without sealing), the folder is opened
// and a row in `reasons` (feature "input") says so. Errors: kInput, naming path and reason.
Result<Store> OpenInput(const std::string& path, const InputUse& use = {});

// What reading left out, did not find or found cut, a sentence without its full stop each.
std::vector<std::string> ReadingNotes(const Store& store);

// Errors: kInput when the path is missing or not readable.
Result<InputFormat> DetectFormat(const std::string& path);

}  // namespace batchlight
