#include "timeline/answers/near_names.h"

#include <algorithm>
#include <vector>

#include "base/nearest.h"
#include "timeline/answers/name_search.h"

namespace batchlight::timeline {
namespace {

constexpr size_t kMostNames = 10'000;  // that are compared, by falling time
constexpr size_t kMostLetters = 60;    // of a name that is compared
constexpr size_t kMostCut = 300;       // of a name whose parts are
constexpr size_t kSaid = 3;

// visit(part) of what people call it: "linear" of "aten::linear", "load" of "train.py:7(load)",
// "AdamW.step" and "step" of "Optimizer.step#AdamW.step".
template <typename Visitor>
void VisitOwnParts(std::string_view name, Visitor&& visit) {
  visit(name);
  if (name.ends_with(')')) name.remove_suffix(1);
  constexpr std::string_view kBetween = ":.#(/";
  for (size_t at = name.find_first_of(kBetween); at != name.npos;
       at = name.find_first_of(kBetween, at)) {
    at = name.find_first_not_of(kBetween, at);
    if (at == name.npos) return;
    const std::string_view part = name.substr(at);
    if (part.find('(') == part.npos) visit(part);  // "7(load" is no name
  }
}

}  // namespace

bool HasName(const Timeline& timeline, std::string_view text) {
  bool any = false;
  EventFilter::OfText(timeline, text).Visit([&](uint32_t) { any = true; });
  return any;
}

std::string NearNamesText(const Timeline& timeline, std::string_view text) {
  std::vector<NameMatch> sums = SumByName(timeline, EventFilter::OfText(timeline, ""));
  sums.resize(std::min(sums.size(), kMostNames));
  std::vector<std::string_view> known;
  std::vector<std::string_view> most;
  const auto add = [&](std::string_view name) {
    const size_t longer = std::max(name.size(), text.size());
    const size_t shorter = std::min(name.size(), text.size());
    if (!name.empty() && longer <= kMostLetters && 2 * shorter >= longer) known.push_back(name);
  };
  for (const NameMatch& sum : sums) {
    const std::string_view name = timeline.names().Text(sum.name);
    if (name.size() <= kMostCut) VisitOwnParts(name, add);
    const bool said = std::find(most.begin(), most.end(), name) != most.end();
    if (!name.empty() && !said && most.size() < kSaid) most.push_back(name);
  }
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  const std::vector<std::string_view> near = NearestFew(text, known, kSaid);
  if (!near.empty() || most.empty()) return DidYouMean(near);
  std::string out = "; the names with most time are ";
  for (size_t i = 0; i < most.size(); ++i) {
    if (i > 0) out += i + 1 == most.size() ? " and " : ", ";
    out.append("\"").append(most[i].substr(0, kMostLetters)).append("\"");
  }
  return out;
}

}  // namespace batchlight::timeline
