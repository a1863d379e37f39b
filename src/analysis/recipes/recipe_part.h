// What a recipe keeps of one input: a table of each of its ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/result/result_table.h"
#include "analysis/stats/rank_parts.h"

namespace batchlight::recipes {

struct PartOfRank {
  stats::RankClaim claim;
  ResultTable table;  // without rows or columns: it has nothing for the recipe
};

struct RecipePart {
  std::string label;    // of the input
  std::string missing;  // what the recipe needs and the input has not; "": nothing
  std::vector<PartOfRank> ranks;
};

std::string EncodePart(const RecipePart& part);
// Nothing: the bytes are damaged, or of another version.
std::optional<RecipePart> DecodePart(std::string_view bytes);

}  // namespace batchlight::recipes
