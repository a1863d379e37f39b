#include "cli/ranks/rank_work.h"

#include <optional>
#include <utility>

#include "analysis/partial/partial_bytes.h"
#include "analysis/partial/rank_partial.h"
#include "cli/reading/job_input.h"
#include "ingest/chunks/partial_block.h"
#include "ingest/open_input.h"

namespace batchlight::cli {
namespace {

Result<std::string> PartBytes(const std::string& path) {
  if (std::optional<std::string> kept = ReadPartialBlock(path)) {
    if (IsJobPart(*kept)) return std::move(*kept);
  }
  ASSIGN_OR_RETURN(const Store store, OpenInput(path));
  return EncodeJobPart(MakeJobPart(NameOfInput(path), store));
}

}  // namespace

Work RankWork() { return {.words = {"partial"}, .run = PartBytes}; }

}  // namespace batchlight::cli
