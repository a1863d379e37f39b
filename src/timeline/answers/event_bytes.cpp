#include "timeline/answers/event_bytes.h"

#include <algorithm>

#include "timeline/answers/put_bytes.h"
#include "timeline/answers/sampled_calls.h"
#include "timeline/answers/waited_for.h"

namespace batchlight::timeline {
namespace {

constexpr uint32_t kEventsMagic = 0x45544c42;  // "BLTE"
constexpr uint32_t kEventsVersion = 3;

void PutVarint(std::string& bytes, uint64_t value) {
  for (; value >= 128; value >>= 7) bytes += static_cast<char>(value | 128);
  bytes += static_cast<char>(value);
}

uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}

// Places in a row of the events that touch the stretch.
struct Places {
  size_t begin;
  size_t end;
};
Places PlacesIn(const Events& events, const EventRow& row, const Stretch& stretch) {
  const size_t begin = row.FirstFrom(events, stretch.from_ns);
  return {begin, std::max(begin, row.FirstBegun(events, stretch.to_ns))};
}

class Encoder {
 public:
  Encoder(const Timeline& timeline, const Stretch& stretch)
      : timeline_(timeline), stretch_(stretch), calls_(timeline), known_(timeline.names().size()) {}

  EventBytes Encode() {
    for (uint32_t id = 0; id < timeline_.tracks().size(); ++id) AddTrack(id);
    EventBytes out;
    Put(out.bytes, kEventsMagic);
    Put(out.bytes, kEventsVersion);
    Put(out.bytes, rows_);
    Put(out.bytes, events_);
    out.bytes += heads_;
    for (const std::string& column : columns_) PutColumn(out.bytes, column);
    Put(out.bytes, static_cast<uint32_t>(open_.size()));
    for (const uint32_t place : open_) Put(out.bytes, place);
    Put(out.bytes, counters_);
    out.bytes += samples_;
    Put(out.bytes, sampled_);
    Put(out.bytes, uint32_t{calls_.know_ready()});
    for (const std::string& column : sampled_columns_) PutColumn(out.bytes, column);
    Put(out.bytes, waits_);
    for (const std::string& column : wait_columns_) PutColumn(out.bytes, column);
    for (uint32_t name = 0; name < known_.size(); ++name) {
      if (known_[name]) out.names.push_back(name);
    }
    PutLongNames(out);
    return out;
  }

 private:
  static void PutColumn(std::string& bytes, const std::string& column) {
    Put(bytes, static_cast<uint32_t>(column.size()));
    bytes += column;
  }

  // The whole of those of which the page is told the beginning.
  void PutLongNames(EventBytes& out) const {
    std::string texts;
    uint32_t count = 0;
    for (const uint32_t name : out.names) {
      const std::string_view text = timeline_.names().Text(name);
      if (text.size() <= kShownNameBytes) continue;
      ++count;
      Put(texts, name);
      Put(texts, static_cast<uint32_t>(text.size()));
      texts += text;
    }
    Put(out.bytes, count);
    out.bytes += texts;
  }

  void AddTrack(uint32_t id) {
    const Track& track = timeline_.tracks()[id];
    for (uint32_t row = 0; row < track.rows.size(); ++row) AddRow(id, row, track.rows[row]);
    for (uint32_t row = 0; row < track.series.size(); ++row) AddCounter(id, row, track.series[row]);
  }

  void AddRow(uint32_t track, uint32_t row_number, const EventRow& row) {
    const Events& events = timeline_.events();
    const auto [begin, end] = PlacesIn(events, row, stretch_);
    ++rows_;
    Put(heads_, track);
    Put(heads_, row_number);
    Put(heads_, events_);
    Put(heads_, static_cast<uint32_t>(end - begin));
    int64_t time_ns = 0;
    int64_t ref_before = -1;
    int64_t name_before = 0;
    for (size_t place = begin; place < end; ++place) {
      const uint32_t ref = row.refs()[place];
      const uint32_t name = events.Name(ref);
      // Only the first may begin before time 0 (a foreign file): it begins there then.
      const int64_t start_ns = std::max(time_ns, events.Start(ref));
      const int64_t end_ns = std::max(start_ns, events.End(ref));
      PutVarint(columns_[0], static_cast<uint64_t>(start_ns - time_ns));
      PutVarint(columns_[1], static_cast<uint64_t>(end_ns - start_ns));
      PutVarint(columns_[2], ZigZag(int64_t{ref} - ref_before - 1));
      PutVarint(columns_[3], ZigZag(int64_t{name} - name_before));
      if (events.IsOpen(ref)) open_.push_back(events_);
      if (name < known_.size()) known_[name] = true;
      if (IsSampled(timeline_.tracks()[track].kind)) AddSampled({track, row_number}, ref);
      AddWait(ref);
      time_ns = end_ns;
      ref_before = ref;
      name_before = name;
      ++events_;
    }
  }

  void AddSampled(const EventPlace& place, uint32_t ref) {
    const SampledCall call = calls_.Of(place, ref);
    if (call.looks == 0) return;
    ++sampled_;
    PutVarint(sampled_columns_[0], ZigZag(int64_t{ref} - sampled_before_ - 1));
    PutVarint(sampled_columns_[1], call.looks);
    PutUs(sampled_columns_[2], call.apart_ns);
    PutVarint(sampled_columns_[3], call.line);
    PutUs(sampled_columns_[4], call.line_ns);
    PutVarint(sampled_columns_[5], call.steps);
    PutUs(sampled_columns_[6], call.times.ran_ns);
    PutUs(sampled_columns_[7], call.times.ready_ns);
    PutUs(sampled_columns_[8], call.times.gil_ns);
    PutUs(sampled_columns_[9], call.times.waited_ns);
    sampled_before_ = ref;
  }
  static void PutUs(std::string& column, int64_t ns) {
    constexpr int64_t kUsNs = 1000;
    PutVarint(column, static_cast<uint64_t>(ns / kUsNs));
  }

  void AddWait(uint32_t ref) {
    const auto tracks = TracksWaitedFor(timeline_, ref);
    if (!tracks) return;
    ++waits_;
    PutVarint(wait_columns_[0], ZigZag(int64_t{ref} - waits_before_ - 1));
    PutVarint(wait_columns_[1], tracks->size());
    for (const uint32_t track : *tracks) PutVarint(wait_columns_[2], track);
    waits_before_ = ref;
  }

  void AddCounter(uint32_t track, uint32_t row_number, const CounterRow& row) {
    size_t end = 0;
    while (end < row.size() && row.time_ns(end) < stretch_.to_ns) ++end;
    size_t begin = 0;
    while (begin + 1 < end && row.time_ns(begin + 1) <= stretch_.from_ns) ++begin;
    ++counters_;
    Put(samples_, track);
    Put(samples_, row_number);
    Put(samples_, static_cast<uint32_t>(end - begin));
    for (size_t i = begin; i < end; ++i) {
      Put(samples_, static_cast<double>(row.time_ns(i)));
      Put(samples_, row.value(i));
    }
  }

  const Timeline& timeline_;
  const Stretch stretch_;
  const SampledCalls calls_;
  std::vector<bool> known_;  // by name
  uint32_t rows_ = 0;
  uint32_t events_ = 0;
  uint32_t counters_ = 0;
  std::string heads_;
  std::string columns_[4];
  std::vector<uint32_t> open_;
  std::string samples_;
  uint32_t sampled_ = 0;
  int64_t sampled_before_ = -1;
  std::string sampled_columns_[10];
  uint32_t waits_ = 0;
  int64_t waits_before_ = -1;
  std::string wait_columns_[3];
};

// So many steps that count, with the longest in their middle where it is unusually long; else from
// the first on.
Stretch StepsAround(const ProcessSteps& process, size_t count) {
  const auto step = [&](size_t i) -> const Step& { return process.steps[process.steady[i]]; };
  size_t longest = 0;
  for (size_t i = 0; i < process.steady.size(); ++i) {
    if (step(i).duration_ns() > step(longest).duration_ns()) longest = i;
  }
  const size_t before = step(longest).outlier ? std::min(longest, count / 2) : 0;
  const size_t first =
      step(longest).outlier ? std::min(longest - before, process.steady.size() - count) : 0;
  return {step(first).start_ns, step(first + count - 1).end_ns};
}

}  // namespace

uint64_t CountEvents(const Timeline& timeline, const Stretch& stretch) {
  uint64_t count = 0;
  for (const Track& track : timeline.tracks()) {
    for (const EventRow& row : track.rows) {
      const auto [begin, end] = PlacesIn(timeline.events(), row, stretch);
      count += end - begin;
    }
  }
  return count;
}

EventBytes EncodeEvents(const Timeline& timeline, const Stretch& stretch) {
  return Encoder(timeline, stretch).Encode();
}

Stretch ChooseStretch(const Timeline& timeline, uint64_t most) {
  if (CountEvents(timeline, {}) <= most) return {};
  const Events& events = timeline.events();
  Stretch chosen{.from_ns = events.run_start_ns(), .to_ns = events.run_start_ns()};
  const ProcessSteps* process = timeline.steps().Main();
  if (process != nullptr && !process->steady.empty()) {
    // How many steps, of which the most that fit are searched for.
    size_t least = 1;
    size_t beyond = process->steady.size() + 1;
    while (least + 1 < beyond) {
      const size_t middle = (least + beyond) / 2;
      (CountEvents(timeline, StepsAround(*process, middle)) <= most ? least : beyond) = middle;
    }
    chosen = StepsAround(*process, least);
    if (CountEvents(timeline, chosen) <= most) return chosen;
  }
  int64_t beyond_ns = events.run_end_ns();
  chosen.to_ns = chosen.from_ns;
  while (chosen.to_ns + 1 < beyond_ns) {
    const int64_t middle_ns = chosen.to_ns + (beyond_ns - chosen.to_ns) / 2;
    (CountEvents(timeline, {chosen.from_ns, middle_ns}) <= most ? chosen.to_ns : beyond_ns) =
        middle_ns;
  }
  return chosen;
}

}  // namespace batchlight::timeline
