#include "ingest/recording/apply_ranks.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "format/launchers.h"

namespace batchlight {
namespace {

// By row of `processes`; -1 where the process has no such property or it is no number.
std::vector<int32_t> NumbersOf(const Store& store, const std::string& name) {
  std::vector<int32_t> numbers(store.processes.size(), -1);
  const StringId key = store.strings.Find(name);
  for (size_t row = 0; !key.IsNone() && row < store.properties.size(); ++row) {
    const ProcessId process = store.properties.process[row];
    if (store.properties.key[row] != key || process.IsNone()) continue;
    const std::string_view text = store.Text(store.properties.value[row]);
    int32_t number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    numbers[process.row()] = whole ? number : -1;
  }
  return numbers;
}

// A variable that some process's own rank contradicts counts something else, such as the nodes of
// a job whose ranks were spawned on each.
bool Agrees(const std::vector<int32_t>& launched, const std::vector<int32_t>& told) {
  for (size_t row = 0; row < told.size(); ++row) {
    if (told[row] >= 0 && launched[row] >= 0 && launched[row] != told[row]) return false;
  }
  return true;
}

}  // namespace

void ApplyRanks(Store& store) {
  const std::vector<int32_t> told = NumbersOf(store, "torch.distributed_rank");
  std::vector<int32_t> launched;
  for (const format::Launcher& launcher : format::kLaunchers) {
    launched = NumbersOf(store, std::string("environment.") + launcher.rank);
    const bool any =
        std::any_of(launched.begin(), launched.end(), [](int32_t r) { return r >= 0; });
    if (any && Agrees(launched, told)) break;
    launched.assign(told.size(), -1);
  }
  for (size_t row = 0; row < told.size(); ++row) {
    store.processes.rank[row] = told[row] >= 0 ? told[row] : launched[row];
  }
}

}  // namespace batchlight
