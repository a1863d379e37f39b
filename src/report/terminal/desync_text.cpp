#include "report/terminal/desync_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/desync/desync_sentence.h"
#include "report/text/number_text.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

using nlohmann::ordered_json;

std::string_view KindName(DesyncKind kind) {
  if (kind == DesyncKind::kDiffers) return "differs";
  return kind == DesyncKind::kMissing ? "missing" : "unfinished";
}

// Those that are suspected or not done first.
std::vector<const LastCall*> InOrder(const DesyncResult& result) {
  std::vector<const LastCall*> order;
  for (const LastCall& rank : result.ranks) order.push_back(&rank);
  const auto place = [&](const LastCall* one) {
    const auto& suspects = result.suspects;
    if (std::binary_search(suspects.begin(), suspects.end(), one->rank)) return 0;
    return one->state == FlightState::kCompleted ? 2 : 1;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const LastCall* a, const LastCall* b) { return place(a) < place(b); });
  return order;
}

}  // namespace

std::string DesyncAsText(const DesyncResult& result, const TerminalStyle& style, size_t rows) {
  SummaryText out(style);
  out.Put("batchlight", Tone::kTitle).Put("  ");
  out.Put(CountText(result.ranks.size()) + (result.ranks.size() == 1 ? " rank" : " ranks"),
          Tone::kStrong);
  out.Put(", by what their flight recorders dumped").EndLine();
  for (const std::string& note : result.notes) {
    out.Put("  ! ", Tone::kWarning).Wrapped(CleanText(note), 4);
  }
  out.Title("What hangs");
  if (result.found.empty()) {
    out.Put("  ").Wrapped("Nothing: every call that is known has ended.", 2);
  }
  for (size_t i = 0; i < std::min(rows, result.found.size()); ++i) {
    out.Put("  ").Wrapped(CleanText(DesyncSentence(result.found[i])), 2, Tone::kStrong);
    if (!result.found[i].place.empty()) {
      out.Put("    ").Wrapped("made at " + CleanText(result.found[i].place), 4, Tone::kDim);
    }
  }
  if (result.found.size() > rows) {
    out.Line("  and " + CountText(result.found.size() - rows) + " groups more", Tone::kDim);
  }
  if (!result.suspects.empty()) {
    out.Put("  ").Wrapped("Look first at " + NamesOfRanks(result.suspects) + ": others wait for " +
                              (result.suspects.size() == 1 ? "it" : "them") + ", and " +
                              (result.suspects.size() == 1 ? "it waits" : "they wait") +
                              " for nobody.",
                          2);
  }
  out.Title("Last calls");
  SummaryTable table(out, {{.header = "", .right = false},
                           {.header = "call"},
                           {.header = "number"},
                           {.header = "group"},
                           {.header = "state"},
                           {.header = "made at", .least_width = 100}});
  const std::vector<const LastCall*> order = InOrder(result);
  for (size_t i = 0; i < std::min(rows, order.size()); ++i) {
    const LastCall& last = *order[i];
    const bool done = last.state == FlightState::kCompleted;
    table.Row(
        {{std::to_string(last.rank)},
         {last.call.empty() ? "none was kept" : CleanText(last.call)},
         {last.call.empty() ? "" : CountText(last.number)},
         {CleanText(last.group)},
         {last.call.empty() ? "" : std::string(FlightStateName(last.state, result.knows_starts)),
          done ? Tone::kPlain : Tone::kWarning},
         {CleanText(last.place)}});
  }
  table.Print("rank");
  return out.text();
}

std::string DesyncAsJson(const DesyncResult& result) {
  ordered_json json = {{"notes", ordered_json::array()},
                       {"found", ordered_json::array()},
                       {"suspects", result.suspects},
                       {"ranks", ordered_json::array()}};
  for (const std::string& note : result.notes) json["notes"].push_back(CleanText(note));
  for (const Desync& found : result.found) {
    json["found"].push_back({{"kind", KindName(found.kind)},
                             {"group", CleanText(found.group)},
                             {"group_ranks", found.group_ranks},
                             {"number", found.number},
                             {"call", CleanText(found.call)},
                             {"other_call", CleanText(found.other_call)},
                             {"place", CleanText(found.place)},
                             {"since_ns", found.since_ns},
                             {"waiting", found.waiting},
                             {"others", found.others}});
  }
  for (const LastCall& last : result.ranks) {
    json["ranks"].push_back({{"rank", last.rank},
                             {"file", CleanText(last.label)},
                             {"group", CleanText(last.group)},
                             {"number", last.number},
                             {"call", CleanText(last.call)},
                             {"state", FlightStateName(last.state, result.knows_starts)},
                             {"place", CleanText(last.place)}});
  }
  return json.dump(2) + "\n";
}

}  // namespace batchlight
