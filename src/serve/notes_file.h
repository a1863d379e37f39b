// Notes of people about a run, in a file beside the recording: RUN.notes.json. Its bytes are not
// trusted more than a request's.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/status.h"

namespace batchlight::serve {

inline constexpr size_t kMostNotesBytes = 1 << 20;

// "runs/train.batchlight" -> "runs/train.batchlight.notes.json"
std::string NotesPath(const std::string& run);

// The list of notes; empty where there is no file. Errors (kInput): not a file of notes, too long.
Result<nlohmann::json> ReadNotes(const std::string& path);
// Errors: kUsage for what is no list of objects or too long, kOutput.
Status WriteNotes(const std::string& path, const nlohmann::json& notes);

}  // namespace batchlight::serve
