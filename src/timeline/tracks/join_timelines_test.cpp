#include "timeline/tracks/join_timelines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>

#include "analysis/testing/growing_run.h"
#include "timeline/answers/links.h"
#include "timeline/answers/name_search.h"
#include "timeline/tracks/build_timeline.h"
#include "timeline/tracks/continue_steps.h"

namespace batchlight::timeline {
namespace {

using testing::GrowingRun;

// A run that is read at one moment and, what is new, at a later one; and all of it then.
struct Readings {
  Readings(const GrowingRun& run, int64_t read_ns, int64_t since_ns, int64_t seam_ns,
           int64_t now_ns)
      : at_ns(seam_ns),
        older_store(run.Read(read_ns)),
        newer_store(run.Read(now_ns, since_ns)),
        whole_store(run.Read(now_ns)),
        older(BuildTimeline(older_store)),
        whole(BuildTimeline(whole_store)) {
    const StepInputs inputs(newer_store);
    ContinuedSteps steps = ContinueSteps(
        older->steps(), FindSteps(inputs, {}), at_ns,
        [&](ProcessId process) { return SameProcess(older_store, newer_store, process); });
    fits = steps.fits;
    newer = BuildTimeline(inputs, std::move(steps.newer));
    joined = JoinTimelines(*older, *newer, at_ns, std::move(steps.all));
  }

  const int64_t at_ns;
  Store older_store, newer_store, whole_store;
  std::unique_ptr<Timeline> older, newer, whole, joined;
  bool fits = false;
};

using Event = std::tuple<std::string, std::string, int64_t, int64_t>;  // table, name, start, end

// What is recorded, by track; what lasts over the moment in two.
std::map<std::string, std::multiset<Event>> EventsOf(const Timeline& timeline, int64_t at_ns) {
  std::map<std::string, std::multiset<Event>> all;
  const Events& events = timeline.events();
  for (const Track& track : timeline.tracks()) {
    if (track.kind != TrackKind::kThread && track.kind != TrackKind::kStream) continue;
    for (const EventRow& row : track.rows) {
      for (const uint32_t ref : row.refs()) {
        const std::string table(events.TableOf(ref).key);
        const std::string name(timeline.names().Text(events.Name(ref)));
        const int64_t start_ns = events.Start(ref), end_ns = events.End(ref);
        std::multiset<Event>& found = all[track.title];
        if (start_ns < at_ns) found.emplace(table, name, start_ns, std::min(end_ns, at_ns));
        if (start_ns >= at_ns || end_ns > at_ns) {
          found.emplace(table, name, std::max(start_ns, at_ns), end_ns);
        }
      }
    }
  }
  return all;
}

void ExpectWhole(const Readings& made) {
  EXPECT_EQ(EventsOf(*made.joined, INT64_MIN), EventsOf(*made.whole, made.at_ns));
  const Timeline& joined = *made.joined;
  const Events& events = joined.events();
  for (uint32_t track = 0; track < joined.tracks().size(); ++track) {
    for (uint32_t row = 0; row < joined.tracks()[track].rows.size(); ++row) {
      int64_t last_ns = INT64_MIN;
      const EventRow& found = joined.tracks()[track].rows[row];
      for (const uint32_t ref : found.refs()) {
        EXPECT_GE(events.Start(ref), last_ns) << joined.tracks()[track].title;
        last_ns = events.End(ref);
        EXPECT_EQ(joined.PlaceOf(ref).track, track);
        const EventOrigin origin = joined.OriginOf(ref);
        ASSERT_NE(origin.timeline, nullptr);
        EXPECT_EQ(joined.RefOf(origin), ref);
        EXPECT_EQ(origin.timeline->names().Text(origin.timeline->events().Name(origin.ref)),
                  joined.names().Text(events.Name(ref)));
      }
      for (int64_t step_ns = 1; step_ns < int64_t{1} << 24; step_ns *= 8) {
        uint64_t count = 0;
        found.VisitItems(events, INT64_MIN / 4, INT64_MAX / 4, step_ns, [&](const RowItem& item) {
          count += item.count;
          return true;
        });
        EXPECT_EQ(count, found.refs().size());
      }
    }
  }
}

void ExpectSteps(const Readings& made) {
  ASSERT_TRUE(made.fits);
  const ProcessSteps& joined = *made.joined->steps().Main();
  const ProcessSteps& whole = *made.whole->steps().Main();
  ASSERT_EQ(joined.steps.size(), whole.steps.size());
  for (size_t i = 0; i < whole.steps.size(); ++i) {
    EXPECT_EQ(joined.steps[i].start_ns, whole.steps[i].start_ns);
    EXPECT_EQ(joined.steps[i].end_ns, whole.steps[i].end_ns);
    EXPECT_EQ(joined.steps[i].number, whole.steps[i].number);
    // What is warm-up at the beginning the older judged by fewer steps.
    if (whole.steps[i].start_ns < made.at_ns) continue;
    EXPECT_EQ(joined.steps[i].kind, whole.steps[i].kind);
    EXPECT_EQ(joined.steps[i].outlier, whole.steps[i].outlier);
  }
  const Timeline& timeline = *made.joined;
  const auto track = std::find_if(timeline.tracks().begin(), timeline.tracks().end(),
                                  [](const Track& one) { return one.kind == TrackKind::kSteps; });
  ASSERT_NE(track, timeline.tracks().end());
  EXPECT_EQ(track->event_count(), whole.steps.size());
}

// Count and time of each name, as one reading has them but for what lasts over the moment.
void ExpectSums(const Readings& made) {
  std::map<std::string, std::pair<uint64_t, int64_t>> joined, whole;
  const auto sum = [](const Timeline& timeline, auto& sums) {
    for (const NameMatch& match : SumByName(timeline, EventFilter::OfText(timeline, "aten::op"))) {
      std::pair<uint64_t, int64_t>& of = sums[std::string(timeline.names().Text(match.name))];
      of.first += match.count;
      of.second += match.total_ns;
    }
  };
  sum(*made.joined, joined);
  sum(*made.whole, whole);
  ASSERT_EQ(joined.size(), whole.size());
  uint64_t more = 0;
  for (const auto& [name, of] : whole) {
    EXPECT_EQ(joined[name].second, of.second) << name;
    more += joined[name].first - of.first;
  }
  EXPECT_LE(more, 1u);  // one operator at the most is open
}

TEST(JoinTimelines, HasAllThatOneReadingHas) {
  for (uint32_t seed = 0; seed < 25; ++seed) {
    const GrowingRun run(seed, 40);
    std::mt19937 random(seed);
    const size_t cut = 10 + random() % 8;
    const int64_t at_ns = run.EndOf(cut);
    const int64_t read_ns = run.EndOf(cut + 1 + random() % 5) + random() % 400'000;
    const int64_t now_ns = run.EndOf(30 + random() % 9) + random() % 400'000;
    SCOPED_TRACE(seed);
    const Readings made(run, read_ns, run.EndOf(cut - 3), at_ns, now_ns);
    ExpectWhole(made);
    ExpectSteps(made);
    ExpectSums(made);
    EXPECT_EQ(made.joined->events().run_end_ns(), made.whole->events().run_end_ns());
  }
}

// Where calls are open, too.
TEST(JoinTimelines, JoinsAtAnyMoment) {
  const GrowingRun run(7, 20);
  std::mt19937 random(1);
  for (int round = 0; round < 40; ++round) {
    const int64_t at_ns = run.EndOf(8) + random() % (run.EndOf(9) - run.EndOf(8));
    SCOPED_TRACE(at_ns);
    ExpectWhole(Readings(run, run.EndOf(11), run.EndOf(5), at_ns, run.EndOf(18)));
  }
}

TEST(JoinTimelines, CountsWhatIsNew) {
  const GrowingRun run(3, 20);
  const Readings made(run, run.EndOf(12), run.EndOf(8), run.EndOf(10), run.EndOf(19));
  const auto rows = [](const Store& store) {
    return static_cast<int64_t>(store.operator_calls.size() + store.module_calls.size() +
                                store.phase_calls.size() + store.api_calls.size() +
                                store.kernels.size());
  };
  EXPECT_EQ(made.joined->more_events(), rows(made.whole_store) - rows(made.older_store));
  EXPECT_EQ(made.joined->more_duration_ns(), run.EndOf(19) - run.EndOf(12));
}

TEST(JoinTimelines, LinksAsBothDo) {
  const GrowingRun run(5, 20);
  const Readings made(run, run.EndOf(12), run.EndOf(8), run.EndOf(10), run.EndOf(19));
  const Links older(*made.older), newer(*made.newer);
  const Links links(*made.joined, {&older, &newer});
  const Events& events = made.joined->events();
  size_t before = 0, after = 0;
  for (const EventTable& table : events.tables()) {
    if (table.key != KernelsTable::kName) continue;
    for (uint32_t row = 0; row < table.rows; ++row) {
      const uint32_t ref = table.first_ref + row;
      for (const EventLink& link : links.Of(ref, 10)) {
        EXPECT_EQ(link.kind, "launch");
        EXPECT_EQ(link.to, ref);
        EXPECT_EQ(events.TableOf(link.from).key, ApiCallsTable::kName);
        EXPECT_LE(events.Start(link.from), events.Start(ref));
        ++(events.Start(ref) < made.at_ns ? before : after);
      }
    }
  }
  EXPECT_GT(before, 50u);
  EXPECT_GT(after, 50u);
}

// Steps that are found otherwise do not go on: the older's are told until all is read anew.
TEST(JoinTimelines, KeepsTheOldersStepsWhereTheNewersAreOthers) {
  const GrowingRun run(5, 20);
  const Store older = run.Read(run.EndOf(12));
  StepSet newer;
  const StepSet known = FindSteps(older);
  const ContinuedSteps steps =
      ContinueSteps(known, newer, run.EndOf(10), [](ProcessId process) { return process; });
  EXPECT_FALSE(steps.fits);
  ASSERT_EQ(steps.all.processes.size(), 1u);
  EXPECT_EQ(steps.all.processes[0].steps.size(), 11u);
}

}  // namespace
}  // namespace batchlight::timeline
