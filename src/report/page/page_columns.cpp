#include "report/page/page_columns.h"

#include <cmath>
#include <string_view>

#include "analysis/result/identifier.h"
#include "report/tables/csv.h"
#include "report/text/number_text.h"

namespace batchlight {
namespace {

using nlohmann::json;

std::string_view TypeKey(CellType type) {
  switch (type) {
    case CellType::kText:
      return "text";
    case CellType::kInteger:
      return "integer";
    case CellType::kReal:
      return "real";
  }
  return "text";
}

std::string_view UnitKey(Unit unit) { return unit == Unit::kRate ? "rate" : BaseUnit(unit); }

std::string_view KindKey(SumRule::Kind kind) {
  switch (kind) {
    case SumRule::Kind::kNone:
      return "";
    case SumRule::Kind::kSum:
      return "sum";
    case SumRule::Kind::kMost:
      return "most";
    case SumRule::Kind::kRatio:
      return "ratio";
    case SumRule::Kind::kQuantile:
      return "quantile";
    case SumRule::Kind::kPercentile:
      return "percentile";
  }
  return "";
}

}  // namespace

json PageRule(const SumRule& rule) {
  json out = {{"kind", KindKey(rule.kind)}, {"of", rule.of}};
  if (!rule.per.empty()) out["per"] = rule.per;
  if (rule.factor != 1) out["factor"] = rule.factor;
  if (!rule.scale.empty()) out["scale"] = rule.scale;
  if (rule.at_most > 0) out["at_most"] = rule.at_most;
  if (rule.zero_if_none) out["zero_if_none"] = true;
  if (rule.percent != 0) out["percent"] = rule.percent;
  return out;
}

json PageColumn(const ResultColumn& column) {
  json out = {{"key", column.key}, {"name", column.name}};
  if (column.type != CellType::kInteger) out["type"] = TypeKey(column.type);
  if (IsIdentifier(column)) out["identifier"] = true;
  if (column.unit != Unit::kNone) out["unit"] = UnitKey(column.unit);
  if (column.type == CellType::kReal && column.decimals != 2) out["decimals"] = column.decimals;
  if (!column.help.empty()) out["help"] = column.help;
  if (!column.help_of_steps.empty()) out["help_of_steps"] = column.help_of_steps;
  if (column.sum.kind != SumRule::Kind::kNone) out["sum"] = PageRule(column.sum);
  return out;
}

std::string PageNumber(const ResultColumn& column, const Cell& cell) {
  if (const auto* integer = std::get_if<int64_t>(&cell)) {
    return column.unit == Unit::kTimeNs ? TimeText(double(*integer))
                                        : CountText(static_cast<uint64_t>(*integer));
  }
  const auto* real = std::get_if<double>(&cell);
  if (real == nullptr) return "–";
  return column.unit == Unit::kPercent ? PercentText(*real / 100) : SignificantText(*real);
}

json PageMetric(const ResultColumn& column, const Cell& cell) {
  json out = PageColumn(column);
  out["value"] = PageNumber(column, cell);
  return out;
}

json PageParts(const PartsByKey& parts) {
  json out = json::object();
  for (const auto& [key, numbers] : parts) {
    json list = json::array();
    for (const double number : numbers) {
      const int64_t whole = std::llround(number);  // nobody needs fractions of a ns
      const bool exact = numbers.size() == 1 && double(whole) != number;
      list.push_back(exact ? json(number) : json(whole));
    }
    out[std::string(key)] = std::move(list);
  }
  return out;
}

json PageParts(const std::vector<BinSteps>& bins, const PartsByKey& parts) {
  json counts = json::array();
  for (const BinSteps& bin : bins) counts.push_back(int(bin.steady));
  return {{"counts", std::move(counts)}, {"of", PageParts(parts)}};
}

}  // namespace batchlight
