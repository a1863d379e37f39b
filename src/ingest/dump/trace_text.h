// A recording as text and back: for people, for tests whose inputs can be read, for bug reports.
//
//   chunk pid=7 tid=7 thread=0 index=0 attach_ns=1000 clock=monotonic base_ticks=1000 ...
//   +0 ProcessStart parent_pid=1 executable="/usr/bin/python3" ...
//   +250 RangePush message="forward"
//   +900 RangePop
//
// "+250" is the time in ticks since the chunk's base. Fields that are 0 are left out; strings are
// written where they are used, quoted, with \n \t \" \\ \xNN escapes; inputs of an operator are
// written as {f32[64, 2], 3} (FORMAT.md). '#' starts a comment line.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/status.h"
#include "ingest/chunks/chunk_set.h"

namespace batchlight {

struct DumpOptions {
  bool chunks = true;   // a line for each chunk
  bool records = true;  // a line for each record
};

// Calls write(lines) with whole lines, in the order of the store (process, thread, time); stops at
// its first error. Damage becomes a comment line at the place where it was found. Errors: those of
// ReadRecording.
Status DumpRecording(const std::string& path, const DumpOptions& options,
                     const std::function<Status(std::string_view)>& write);

// The same for chunks that are already loaded.
Status DumpChunks(const ChunkSet& set, const DumpOptions& options,
                  const std::function<Status(std::string_view)>& write);

// The files of a live folder, by name, with the contents that `text` describes. A chunk line takes
// the attributes that it leaves out from the chunk before (the index goes up by one). Errors
// (kInput) name the line.
Result<std::map<std::string, std::string>> AssembleRecording(std::string_view text);

// Creates the folder and its files. Errors: kOutput.
Status WriteLiveFolder(const std::map<std::string, std::string>& files, const std::string& folder);

}  // namespace batchlight
