#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/steps/step_lookup.h"
#include "timeline/answers/name_search.h"
#include "timeline/answers/run_json.h"
#include "timeline/answers/sampled_calls.h"
#include "timeline/answers/waited_for.h"

namespace batchlight::timeline {
namespace {

using nlohmann::json;

constexpr size_t kMostLinks = 1000;
// A thread may nest thousands deep.
constexpr uint32_t kMostParents = 200;
constexpr size_t kMostText = 20'000;

json Text(std::string_view text) {
  if (text.size() <= kMostText) return std::string(text);
  return std::string(text.substr(0, kMostText)) + " ...";
}

// Whether a column's description says that this value stands for none: "-1 none", "0 = not seen".
bool StandsForNone(std::string_view doc, int64_t value) {
  const std::string number = std::to_string(value);
  for (size_t at = doc.find(number); at != doc.npos; at = doc.find(number, at + 1)) {
    if (at > 0 && doc[at - 1] != ' ') continue;
    std::string_view rest = doc.substr(at + number.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" =:"), rest.size()));
    for (const std::string_view none : {"none", "unknown", "not "}) {
      if (rest.starts_with(none)) return true;
    }
  }
  return false;
}

// One column of a row for people: what it is called, its text and its bare number.
class FieldWriter {
 public:
  FieldWriter(const Timeline& timeline, uint32_t row) : timeline_(timeline), row_(row) {}

  template <typename T>
  [[gnu::noinline]] void operator()(std::string_view key, std::string_view doc,
                                    const std::vector<T>& column) {
    if (key == "start_ns" || key == "end_ns") return;
    json field = {{"key", key}, {"label", LabelOf(key)}, {"value", nullptr}, {"unit", ""}};
    if (!doc.empty()) field["help"] = doc;
    if (!SetValue(column[row_], field)) return;
    const bool is_bytes = key.find("bytes") != key.npos;
    const json& value = field["value"];
    if (value.is_number_integer() && StandsForNone(doc, value.get<int64_t>())) return;
    if (is_bytes && value == 0) return;  // a call that moved nothing is none that moves something
    if (is_bytes) field["unit"] = "bytes";
    if (key.ends_with("_ns")) field["unit"] = "ns";
    fields_.push_back(std::move(field));
  }
  json Take() { return std::move(fields_); }

 private:
  static std::string LabelOf(std::string_view key) {
    std::string label(key);
    std::replace(label.begin(), label.end(), '_', ' ');
    return label;
  }

  // false: the row has no value.
  template <typename T>
  bool SetValue(const T& value, json& field) const {
    const Store& store = timeline_.store();
    if constexpr (std::is_same_v<T, StringId>) {
      if (value.IsNone()) return false;
      field["text"] = Text(store.Text(value));
    } else if constexpr (std::is_same_v<T, ThreadId>) {
      if (value.IsNone()) return false;
      field["text"] = "tid " + std::to_string(store.threads.tid[value.row()]);
    } else if constexpr (std::is_same_v<T, ProcessId>) {
      if (value.IsNone()) return false;
      field["text"] = "pid " + std::to_string(store.processes.pid[value.row()]);
    } else if constexpr (KindOfValue<T>) {
      field["text"] = std::string(Label(value));
      field["value"] = static_cast<int64_t>(Number(value));
    } else if constexpr (std::is_same_v<T, KernelLaunchId>) {
      if (value.IsNone()) return false;
      field["text"] = LaunchText(store.kernel_launches.Row(value.row()));
    } else if constexpr (std::is_integral_v<T> || std::is_floating_point_v<T>) {
      field["text"] = (field["key"] == "released_by" ? "tid " : "") + std::to_string(value);
      field["value"] = value;
    } else {
      return false;  // rows of other tables: parents and links show them
    }
    return true;
  }

  static std::string LaunchText(const KernelLaunchesRow& launch) {
    const auto triple = [](uint32_t x, uint32_t y, uint32_t z) {
      return std::to_string(x) + " x " + std::to_string(y) + " x " + std::to_string(z);
    };
    return "grid " + triple(launch.grid_x, launch.grid_y, launch.grid_z) + ", block " +
           triple(launch.block_x, launch.block_y, launch.block_z) + ", " +
           std::to_string(launch.registers_per_thread) + " registers, " +
           std::to_string(launch.static_shared_bytes + launch.dynamic_shared_bytes) +
           " bytes of shared memory";
  }

  const Timeline& timeline_;
  uint32_t row_;
  json fields_ = json::array();
};

// What the thread did in a sampled call, as far as looks tell. Where these do not tell when it had
// no processor, that is in `waited`.
json DidJson(const LookTimes& times, bool knows_ready) {
  if (times.ns() == 0) return nullptr;
  return {{"ran", times.ran_ns},
          {"ready", times.ready_ns},
          {"gil", times.gil_ns},
          {"waited", times.waited_ns},
          {"knows_ready", knows_ready}};
}

// How well a sampled call is known, and what the thread did in it; null: it is none, or nobody
// knows.
void AddSampled(const EventOrigin& origin, json& out) {
  out["sampled"] = out["did"] = nullptr;
  const Timeline& timeline = *origin.timeline;
  const EventPlace place = timeline.PlaceOf(origin.ref);
  if (place.track == kNoRef || !IsSampled(timeline.tracks()[place.track].kind)) return;
  const SampledCalls calls(timeline);
  const SampledCall call = calls.Of(place, origin.ref);
  if (call.looks == 0) return;
  out["sampled"] = {{"looks", call.looks},
                    {"apart", call.apart_ns},
                    {"line", call.line},
                    {"line_ns", call.line_ns},
                    {"steps", call.steps}};
  out["did"] = DidJson(call.times, calls.know_ready());
}

json FieldsOf(const EventOrigin& origin) {
  const Timeline& timeline = *origin.timeline;
  const EventTable& table = timeline.events().TableOf(origin.ref);
  const uint32_t row = origin.ref - table.first_ref;
  json fields = json::array();
  timeline.store().VisitTables([&](const auto& rows) {
    if (std::remove_cvref_t<decltype(rows)>::kName != table.key) return;
    FieldWriter writer(timeline, row);
    rows.VisitColumns(writer);
    fields = writer.Take();
  });
  return fields;
}

// Calls around the event, from the innermost outwards.
json ParentsOf(const Timeline& timeline, const EventPlace& place, uint32_t ref) {
  json parents = json::array();
  if (place.track == kNoRef) return parents;
  const Events& events = timeline.events();
  const std::vector<EventRow>& rows = timeline.tracks()[place.track].rows;
  const uint32_t last = place.row > kMostParents ? place.row - kMostParents : 0;
  for (uint32_t row = place.row; row-- > last;) {
    const std::vector<uint32_t>& refs = rows[row].refs();
    const size_t after = rows[row].FirstBegun(events, events.Start(ref) + 1);
    if (after == 0 || events.End(refs[after - 1]) < events.End(ref)) continue;
    parents.push_back(EventJson(timeline, refs[after - 1]));
  }
  return parents;
}

// What the row below holds within the event.
json ChildrenOf(const Timeline& timeline, const EventPlace& place, uint32_t ref) {
  const Events& events = timeline.events();
  const int64_t from_ns = events.Start(ref);
  const int64_t to_ns = events.End(ref);
  uint64_t count = 0;
  int64_t busy_ns = 0;
  if (place.track != kNoRef && place.row + 1 < timeline.tracks()[place.track].rows.size()) {
    const EventRow& below = timeline.tracks()[place.track].rows[place.row + 1];
    for (size_t at = below.FirstBegun(events, from_ns); at < below.refs().size(); ++at) {
      const uint32_t child = below.refs()[at];
      if (events.Start(child) >= to_ns) break;
      ++count;
      busy_ns += std::min(to_ns, events.End(child)) - events.Start(child);
    }
  }
  return {{"count", count}, {"busy", busy_ns}, {"self", to_ns - from_ns - busy_ns}};
}

json LinksOf(const Timeline& timeline, const Links& links, uint32_t ref) {
  json out = json::array();
  for (const EventLink& link : links.Of(ref, kMostLinks)) {
    json other = EventJson(timeline, link.from == ref ? link.to : link.from);
    other["kind"] = link.kind;
    other["forward"] = link.from == ref;
    out.push_back(std::move(other));
  }
  return out;
}

// Idle time and what samples found may begin a little before the step that they are about.
bool IsAboutMostOfIt(TrackKind kind) {
  return kind == TrackKind::kIdle || kind == TrackKind::kPython || kind == TrackKind::kNative;
}

json StepOf(const Timeline& timeline, const EventPlace& place, uint32_t ref) {
  if (place.track == kNoRef) return nullptr;
  const Track& track = timeline.tracks()[place.track];
  const int32_t group = track.group;
  if (group < 0) return nullptr;
  const ProcessSteps* process =
      timeline.steps().Of(timeline.groups()[static_cast<size_t>(group)].process);
  if (process == nullptr) return nullptr;
  const int64_t start_ns = timeline.events().Start(ref);
  const size_t row = IsAboutMostOfIt(track.kind)
                         ? StepLookup::Mostly(process->steps, start_ns, timeline.events().End(ref))
                         : StepLookup::Around(process->steps, start_ns);
  if (row == StepLookup::kNone) return nullptr;
  const Step& step = process->steps[row];
  return {{"number", step.number}, {"from", step.start_ns}, {"to", step.end_ns}};
}

json WaitedForJson(const Timeline& timeline, uint32_t ref) {
  const auto tracks = TracksWaitedFor(timeline, ref);
  return tracks ? json(*tracks) : json(nullptr);
}

json SameName(const Timeline& timeline, uint32_t ref) {
  const Events& events = timeline.events();
  const EventFilter filter =
      EventFilter::OfName(timeline, events.Name(ref)).In(events.TableOf(ref).key);
  const std::vector<NameMatch> sums = SumByName(timeline, filter);
  if (sums.empty()) return nullptr;
  return {{"count", sums[0].count},
          {"total", sums[0].total_ns},
          {"lengths", sums[0].lengths_ns},
          {"longest", sums[0].longest_ns},
          {"longest_ref", sums[0].longest_ref},
          {"rank", RankByLength(timeline, filter, ref)}};
}

}  // namespace

json EventJson(const Timeline& timeline, uint32_t ref) {
  const Events& events = timeline.events();
  const EventTable& table = events.TableOf(ref);
  const EventPlace place = timeline.PlaceOf(ref);
  return {{"ref", ref},
          {"name", Text(timeline.names().Text(events.Name(ref)))},
          {"name_id", events.Name(ref)},
          {"table", table.key},
          {"track", place.track == kNoRef ? json(nullptr) : json(place.track)},
          {"depth", place.row},
          {"from", events.Start(ref)},
          {"to", events.End(ref)}};
}

json LineWithin(const Timeline& timeline, uint32_t ref, int64_t from_ns, int64_t to_ns) {
  const EventOrigin origin = timeline.OriginOf(ref);
  const EventPlace place = origin.timeline->PlaceOf(origin.ref);
  if (place.track == kNoRef || !IsSampled(origin.timeline->tracks()[place.track].kind)) {
    return nullptr;
  }
  const SampledCall call = SampledCalls(*origin.timeline).In(place, origin.ref, from_ns, to_ns);
  return call.line == 0 ? json(nullptr) : json{{"line", call.line}, {"line_ns", call.line_ns}};
}

json EventDetails(const Timeline& timeline, const Links& links, uint32_t ref) {
  const Events& events = timeline.events();
  const EventTable& table = events.TableOf(ref);
  const EventPlace place = timeline.PlaceOf(ref);
  json out = EventJson(timeline, ref);
  out["row"] = ref - table.first_ref;
  if (const uint32_t reading = events.ReadingOf(table); reading > 0) out["reading"] = reading;
  out["title"] = table.title;
  out["open"] = events.IsOpen(ref);
  out["step"] = StepOf(timeline, place, ref);
  const EventOrigin origin = timeline.OriginOf(ref);
  out["fields"] = FieldsOf(origin);
  AddSampled(origin, out);
  out["waited_for"] = WaitedForJson(timeline, ref);
  out["parents"] = ParentsOf(timeline, place, ref);
  out["children"] = ChildrenOf(timeline, place, ref);
  out["links"] = LinksOf(timeline, links, ref);
  out["same_name"] = SameName(timeline, ref);
  return out;
}

}  // namespace batchlight::timeline
