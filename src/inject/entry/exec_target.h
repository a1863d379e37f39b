// What a program that is about to be run means for the recording.
#pragma once

namespace batchlight::inject {

// Why nothing of the program at `path` will be recorded, as the end of a sentence that begins with
// its name; nullptr if nothing speaks against it.
const char* WhyNotRecorded(const char* path);

}  // namespace batchlight::inject
