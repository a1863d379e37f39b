#include "analysis/recipes/recipe_part.h"

#include <utility>

#include "analysis/numbers/packed_bytes.h"

namespace batchlight::recipes {
namespace {

constexpr uint64_t kVersion = 1;

enum : uint8_t { kNothing, kText, kWhole, kReal };

void WriteCell(const Cell& cell, PackedWriter& out) {
  out.Number(cell.index());
  if (const auto* text = std::get_if<std::string>(&cell)) out.Text(*text);
  if (const auto* whole = std::get_if<int64_t>(&cell)) out.Signed(*whole);
  if (const auto* real = std::get_if<double>(&cell)) out.Real(*real);
}

Cell ReadCell(PackedReader& in) {
  switch (in.Number()) {
    case kNothing:
      return {};
    case kText:
      return in.Text();
    case kWhole:
      return in.Signed();
    case kReal:
      return in.Real();
    default:
      in.Fail();
      return {};
  }
}

void WriteTable(const ResultTable& table, PackedWriter& out) {
  out.Number(table.columns.size());
  for (const ResultColumn& column : table.columns) {
    out.Text(column.name);
    out.Text(column.key);
    out.Number(static_cast<uint64_t>(column.type));
    out.Number(static_cast<uint64_t>(column.unit));
    out.Number(static_cast<uint64_t>(column.decimals));
  }
  out.Number(table.rows.size());
  for (const auto& row : table.rows) {
    for (const Cell& cell : row) WriteCell(cell, out);
  }
}

ResultTable ReadTable(PackedReader& in) {
  ResultTable table;
  for (size_t left = in.Count(); left > 0 && in.ok(); --left) {
    ResultColumn& column = table.columns.emplace_back();
    column.name = in.Text();
    column.key = in.Text();
    const auto type = in.As<uint8_t>();
    const auto unit = in.As<uint8_t>();
    const auto decimals = in.As<uint8_t>();
    if (type > static_cast<uint8_t>(CellType::kReal) || unit > static_cast<uint8_t>(Unit::kRate) ||
        decimals > 9) {
      in.Fail();
    }
    column.type = static_cast<CellType>(type);
    column.unit = static_cast<Unit>(unit);
    column.decimals = decimals;
  }
  for (size_t left = in.Count(); left > 0 && in.ok(); --left) {
    std::vector<Cell>& row = table.rows.emplace_back();
    for (size_t i = 0; i < table.columns.size(); ++i) row.push_back(ReadCell(in));
  }
  return table;
}

}  // namespace

std::string EncodePart(const RecipePart& part) {
  PackedWriter out;
  out.Number(kVersion);
  out.Text(part.label);
  out.Text(part.missing);
  out.Number(part.ranks.size());
  for (const PartOfRank& rank : part.ranks) {
    out.Signed(rank.claim.rank);
    out.Number(rank.claim.unknown ? 1 : 0);
    out.Text(rank.claim.whose);
    WriteTable(rank.table, out);
  }
  return out.Take();
}

std::optional<RecipePart> DecodePart(std::string_view bytes) {
  PackedReader in(bytes);
  if (in.Number() != kVersion) return std::nullopt;
  RecipePart part;
  part.label = in.Text();
  part.missing = in.Text();
  for (size_t left = in.Count(); left > 0 && in.ok(); --left) {
    PartOfRank& rank = part.ranks.emplace_back();
    rank.claim.rank = in.Signed();
    rank.claim.unknown = static_cast<bool>(in.Number());
    rank.claim.whose = in.Text();
    rank.table = ReadTable(in);
  }
  if (!in.ok()) return std::nullopt;
  return part;
}

}  // namespace batchlight::recipes
