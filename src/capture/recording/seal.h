// Turns a live folder into one file: its chunks, compressed and with checksums, and an index of
// them. The folder is left as it is. Layout: format/layout.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/folder.h"
#include "base/status.h"
#include "capture/recording/live_folder.h"

namespace batchlight::capture {

struct SealOptions {
  // Only this capture, with what the tool's earlier chunks say about the session. Nothing: all
  // captures.
  std::optional<uint32_t> capture_index;
  bool replace = false;  // an existing output
  bool ended = false;  // nobody writes into the folder any more: the room that it holds may be used
  const Folder* output_folder = nullptr;  // takes the file; nullptr: the one that its path names
  uid_t owner = static_cast<uid_t>(-1);   // whose it becomes; -1 = the tool's
  gid_t group = static_cast<gid_t>(-1);
  std::function<void(double)> progress;  // gets the share that is done, now and then
  // Gets a descriptor of the finished file, for reading and writing, which the caller closes; -1 if
  // there is none left.
  int* held_fd = nullptr;
};

struct SealSummary {
  uint64_t chunks = 0;
  uint64_t raw_bytes = 0;          // of the chunks
  uint64_t file_bytes = 0;         // of the sealed file
  uint64_t damaged_stretches = 0;  // of the live files, skipped
};

// Errors: kInput if the folder cannot be read or holds no recording, kOutput if the file cannot be
// written. Nothing is left under `output` then. The file is its owner's alone.
Result<SealSummary> Seal(const LiveFolder& live_folder, const std::string& output,
                         const SealOptions& options);

}  // namespace batchlight::capture
