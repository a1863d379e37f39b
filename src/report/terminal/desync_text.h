// Why a job hangs: the calls that some ranks made and others did not, and the last call of each.
#pragma once

#include <string>

#include "analysis/desync/desync.h"
#include "report/terminal/summary_text.h"

namespace batchlight {

// `rows`: of each list.
std::string DesyncAsText(const DesyncResult& result, const TerminalStyle& style, size_t rows);
// One object with stable keys. Names are cleaned to valid UTF-8.
std::string DesyncAsJson(const DesyncResult& result);

}  // namespace batchlight
