// What the files of all recorded processes may take of their disk, so that the program's own
// checkpoints still find room: --keep-free and --max-size.
#pragma once

#include <cstdint>

#include "format/control.h"

namespace batchlight::inject {

// Sealing writes the recording a second time, compressed: measured 1/12 to 1/5 of its size.
inline constexpr uint64_t kSealedShare = 4;

// Counts `bytes` more, which are to be reserved through `fd`. Otherwise says which limit they would
// pass, and counts nothing. `holds_room`: what sealing needs for the bytes before is reserved.
format::RecordingStop TakeDiskSpace(int fd, uint32_t bytes, bool holds_room);
void ReturnDiskSpace(uint32_t bytes);

// Whether the disk of the open folder has a file for one more process.
bool LeavesFiles(int folder);

// Tells the tool, once, that the files grow no further; it ends the collection.
void StopRecording(format::RecordingStop why);

// Why a file could not grow, for the tool to say. `error` is -errno.
void NoteGrowthError(long error);

}  // namespace batchlight::inject
