#include "analysis/run/losses.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/numbers/plain_number.h"
#include "store/reason_features.h"

namespace batchlight {
namespace {

struct CounterRow {
  uint32_t number;
  LossSeverity severity;
  std::string_view name;
  std::string_view what;
  std::string_view advice;
};

constexpr CounterRow kCounters[] = {
#define COUNTER(Name, number, severity, what, advice) \
  {number, LossSeverity::k##severity, #Name, what, advice},
#include "format/counters.def"
#undef COUNTER
};

const CounterRow* FindCounter(uint32_t number) {
  for (const CounterRow& row : kCounters) {
    if (row.number == number) return &row;
  }
  return nullptr;
}

LossSeverity SeverityOfReason(std::string_view feature) {
  if (feature == kUnreadFeature) return LossSeverity::kInfo;
  return feature == kJobFeature ? LossSeverity::kNotice : LossSeverity::kError;
}

}  // namespace

std::string_view SeverityName(LossSeverity severity) {
  switch (severity) {
    case LossSeverity::kInfo:
      return "info";
    case LossSeverity::kNotice:
      return "notice";
    case LossSeverity::kError:
      return "error";
    case LossSeverity::kDataLoss:
      break;
  }
  return "data_loss";
}

std::vector<LossWarning> FindLosses(const Store& store, bool all) {
  std::map<uint32_t, LossWarning> by_counter;
  std::vector<LossWarning> warnings;
  for (size_t i = 0; i < store.losses.size(); ++i) {
    LossWarning& warning = by_counter[store.losses.counter[i]];
    warning.value += store.losses.value[i];
    ++warning.processes;
  }
  for (auto& [number, warning] : by_counter) {
    const CounterRow* counter = FindCounter(number);
    if (counter == nullptr || warning.value == 0) continue;  // of a newer version
    const bool action = counter->advice != "none";
    if (!all && counter->severity == LossSeverity::kInfo && !action) continue;
    warning.severity = counter->severity;
    warning.counter = number;
    warning.name = counter->name;
    warning.text = WithThousands(warning.value) + " " + std::string(counter->what);
    if (action) warning.advice = counter->advice;
    warnings.push_back(std::move(warning));
  }
  std::set<std::pair<StringId, StringId>> seen;
  for (size_t i = 0; i < store.reasons.size(); ++i) {
    if (!seen.emplace(store.reasons.feature[i], store.reasons.text[i]).second) continue;
    const std::string_view feature = store.Text(store.reasons.feature[i]);
    warnings.push_back({.severity = SeverityOfReason(feature),
                        .name = std::string(feature),
                        .value = 1,
                        .processes = 1,
                        .text = std::string(store.Text(store.reasons.text[i]))});
  }
  std::stable_sort(
      warnings.begin(), warnings.end(),
      [](const LossWarning& a, const LossWarning& b) { return a.severity > b.severity; });
  return warnings;
}

}  // namespace batchlight
