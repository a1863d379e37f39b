// Standard output of the commands. All that is written is checked: a full disk is an error.
#pragma once

#include <string_view>

#include "base/status.h"

namespace batchlight::cli {

// Text that is clean already, colours included, or that is for another program.
Status WriteOut(std::string_view text);
// Text with names in it as they were recorded. On a terminal their control characters are replaced.
Status WriteNamesOut(std::string_view text);
// After a write to it that failed, with errno: the error. Ends the tool where its reader is gone.
Status FailedOut();
// What is still buffered, whoever wrote it. Error (kOutput) if any of it was lost.
Status FinishOut();

// One line on standard error; what would act on a terminal is replaced.
void SayLine(std::string_view line);

}  // namespace batchlight::cli
