#include "cli/reading/reading_notes.h"

#include "cli/reading/standard_output.h"
#include "ingest/open_input.h"

namespace batchlight::cli {

std::vector<std::string> ReadingNoteLines(const std::string& input, const Store& store) {
  std::vector<std::string> lines = ReadingNotes(store);
  for (std::string& line : lines) line = "NOTE: " + input + ": " + line + ".";
  return lines;
}

void SayReadingNotes(const std::string& input, const Store& store) {
  for (const std::string& line : ReadingNoteLines(input, store)) SayLine(line);
}

}  // namespace batchlight::cli
