// What stats and analyze take alike, as nsys has it.
#pragma once

#include <string>

#include "cli/flags/command.h"
#include "cli/reading/event_filter.h"
#include "cli/reading/table_outputs.h"

namespace batchlight::cli {

struct NsysFlags {
  TableFlags tables;
  std::string time_unit = "nanoseconds";
  FilterFlags filter;
  std::string help_formats;
  std::string overwrite_words;
  std::string export_words;
  std::string sqlite;
};

// `flags` outlives the parse.
void AddNsysFlags(const Command& command, NsysFlags* flags);

}  // namespace batchlight::cli
