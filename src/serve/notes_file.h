// Notes of people about a run, in a file beside the recording: RUN.notes.json. Its bytes are not
// trusted more than a request's.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/status.h"

namespace batchlight::serve {

inline constexpr size_t kMostNotesBytes = 1 << 20;

// "runs/train.batchlight" -> "runs/train.batchlight.notes.json"
std::string NotesPath(const std::string& run);

// Another text after the notes of a run changed, but for a change of equal length within a tick of
// the clock that files have; "" without any.
std::string NotesStamp(const std::string& run);

// The list of notes, each with an id; empty where there is no file. Errors (kInput): not a file of
// notes, too long.
Result<nlohmann::json> ReadNotes(const std::string& path);
// Changes the notes of the run's file, which others may read who may read the run: each of `set`
// takes the place of the one of its id or comes after all, those of the ids `dropped` go, and the
// rest stays as other pages wrote it. Errors: kUsage for a `set` that is no list of objects or too
// long, kInput as above, kOutput.
Status ChangeNotes(const std::string& run, const nlohmann::json& set,
                   const std::vector<std::string>& dropped);

}  // namespace batchlight::serve
