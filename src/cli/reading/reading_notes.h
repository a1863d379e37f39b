// What reading an input lost, for commands whose own output does not say so.
#pragma once

#include <string>
#include <vector>

#include "store/store.h"

namespace batchlight::cli {

// "NOTE: train.json: the file ends in the middle of an event, ..." as lines without their end.
std::vector<std::string> ReadingNoteLines(const std::string& input, const Store& store);

// The lines on stderr.
void SayReadingNotes(const std::string& input, const Store& store);

}  // namespace batchlight::cli
