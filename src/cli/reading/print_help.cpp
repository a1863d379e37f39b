#include "cli/reading/print_help.h"

#include "cli/reading/standard_output.h"
#include "cli/reference/describe.h"
#include "cli/reference/help_text.h"

namespace batchlight::cli {

Status PrintHelp(const Command& command) { return WriteOut(HelpText(Describe(command))); }

}  // namespace batchlight::cli
