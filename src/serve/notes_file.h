// Notes of people about a run, in a file beside the recording: RUN.notes.json. Its bytes are not
// trusted more than a request's.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace batchlight::serve {

inline constexpr size_t kMostNotesBytes = 1 << 20;

// "runs/train.batchlight" -> "runs/train.batchlight.notes.json"
std::string NotesPath(const std::string& run);

// The list of notes, each with an id; empty where there is no file. Errors (kInput): not a file of
// notes, too long.
Result<nlohmann::json> ReadNotes(const std::string& path);
// Replaces the notes of the run's file, which others may read who may read the run. With the ids
// that the writer has `known`, those that it never saw stay: another page wrote them. Errors:
// kUsage for what is no list of objects or too long, kInput as above, kOutput.
Status WriteNotes(const std::string& run, nlohmann::json notes,
                  const std::optional<std::vector<std::string>>& known);

}  // namespace batchlight::serve
