#include "timeline/index/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "analysis/result/result_column.h"
#include "analysis/result/table_columns.h"
#include "analysis/tables/registry.h"
#include "analysis/testing/sample_run.h"
#include "analysis/testing/store_builder.h"
#include "analysis/testing/two_ranks.h"
#include "timeline/answers/events_in_range.h"
#include "timeline/answers/links.h"
#include "timeline/answers/name_search.h"
#include "timeline/answers/range_tables.h"
#include "timeline/answers/run_json.h"
#include "timeline/tracks/build_timeline.h"

namespace batchlight::timeline {
namespace {

using testing::StoreBuilder;

const Track* TrackOf(const Timeline& timeline, TrackKind kind) {
  const auto at = std::find_if(timeline.tracks().begin(), timeline.tracks().end(),
                               [&](const Track& track) { return track.kind == kind; });
  return at == timeline.tracks().end() ? nullptr : &*at;
}

std::vector<std::string> NamesOf(const Timeline& timeline, const EventRow& row) {
  std::vector<std::string> names;
  for (const uint32_t ref : row.refs()) {
    names.emplace_back(timeline.names().Text(timeline.events().Name(ref)));
  }
  return names;
}

using Texts = std::vector<std::string>;

TEST(Timeline, NestsCallsOfAllTables) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  build.Module(main, "model", "Net", 0, 100);
  build.Operator(main, "aten::linear", 10, 60);
  build.Range(main, "mine", 20, 50);
  build.ApiCall(main, "cudaLaunchKernel_v7000", 30, 40);
  const Store store = build.Build();
  const auto timeline = BuildTimeline(store, {.derived = false});
  const Track* track = TrackOf(*timeline, TrackKind::kThread);
  ASSERT_NE(track, nullptr);
  ASSERT_EQ(track->rows.size(), 4u);
  EXPECT_EQ(NamesOf(*timeline, track->rows[0]), Texts{"model"});
  EXPECT_EQ(NamesOf(*timeline, track->rows[1]), Texts{"aten::linear"});
  EXPECT_EQ(NamesOf(*timeline, track->rows[2]), Texts{"mine"});
  EXPECT_EQ(NamesOf(*timeline, track->rows[3]), Texts{"cudaLaunchKernel"});
}

// Looks that find a function at the same depth one after the other are one event of it.
TEST(Timeline, PythonStandsBelowItsThread) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  build.Operator(main, "aten::linear", 10, 60);
  Store store = build.Build();
  const auto frame = [&](const char* function, PythonStackId parent, uint32_t line = 8) {
    store.python_frames.Append({.file = store.strings.Intern("/home/u/train.py"),
                                .function = store.strings.Intern(function),
                                .first_line = 7,
                                .line = line});
    store.python_stacks.Append(
        {.frame = PythonFrameId::At(store.python_frames.size() - 1), .parent = parent});
    return PythonStackId::At(store.python_stacks.size() - 1);
  };
  const auto look = [&](int64_t start_ns, int64_t end_ns, PythonStackId stack) {
    store.python_samples.Append({.start_ns = start_ns,
                                 .end_ns = end_ns,
                                 .thread = main,
                                 .python_stack = stack,
                                 .samples = 1});
  };
  const PythonStackId program = frame("program", {});
  const PythonStackId train = frame("train", program);
  const PythonStackId load = frame("load", train);
  const PythonStackId step = frame("step", train);
  const PythonStackId rare = frame("step", train, 9);
  look(0, 10, load);
  look(10, 20, load);
  look(20, 22, step);
  look(22, 24, rare);
  look(24, 30, step);
  look(30, 40, train);
  look(40, 50, {});  // no Python
  look(50, 60, load);
  const auto timeline = BuildTimeline(store);
  const Track* track = TrackOf(*timeline, TrackKind::kPython);
  ASSERT_NE(track, nullptr);
  EXPECT_EQ((track - 1)->kind, TrackKind::kThread);
  ASSERT_EQ(track->rows.size(), 3u);
  const std::string load_name = "train.py:7(load)";
  EXPECT_EQ(NamesOf(*timeline, track->rows[0]), Texts(2, "train.py:7(program)"));
  EXPECT_EQ(NamesOf(*timeline, track->rows[1]), Texts(2, "train.py:7(train)"));
  EXPECT_EQ(NamesOf(*timeline, track->rows[2]), (Texts{load_name, "train.py:7(step)", load_name}));
  const Events& events = timeline->events();
  const std::vector<uint32_t>& outer = track->rows[0].refs();
  // What changed between two looks did so in the middle.
  EXPECT_EQ(events.Start(outer[0]), 5);
  EXPECT_EQ(events.End(outer[0]), 45);
  EXPECT_EQ(events.Start(outer[1]), 55);
  EXPECT_EQ(events.End(track->rows[2].refs()[0]), 21);
}

// Programmatic dependent launch: a kernel begins before the one ahead of it has ended.
TEST(Timeline, GivesOverlappingKernelsOfAStreamRowsOfTheirOwn) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  build.Kernel(main, "first", 0, 10, 30);
  build.Kernel(main, "second", 5, 25, 40);
  build.Kernel(main, "third", 6, 40, 50);
  const Store store = build.Build();
  const auto timeline = BuildTimeline(store, {.derived = false});
  const Track* track = TrackOf(*timeline, TrackKind::kStream);
  ASSERT_NE(track, nullptr);
  ASSERT_EQ(track->rows.size(), 2u);
  EXPECT_EQ(track->event_count(), 3u);
}

// Every row of every table of events is in one row of one track.
TEST(Timeline, DropsNothing) {
  const Store store = testing::MakeSampleRun({.steps = 10, .gpu = true});
  const auto timeline = BuildTimeline(store);
  std::set<uint32_t> seen;
  for (const Track& track : timeline->tracks()) {
    for (const EventRow& row : track.rows) {
      int64_t end_ns = INT64_MIN;
      for (const uint32_t ref : row.refs()) {
        EXPECT_TRUE(seen.insert(ref).second) << "twice";
        EXPECT_LE(end_ns, timeline->events().Start(ref)) << "overlap in " << track.title;
        end_ns = timeline->events().End(ref);
      }
    }
  }
  uint64_t rows = 0;
  for (const EventTable& table : timeline->events().tables()) rows += table.rows;
  EXPECT_EQ(seen.size(), rows);
  EXPECT_GT(rows, 1000u);
}

TEST(Timeline, FindsThePlaceOfAnEvent) {
  const Store store = testing::MakeSampleRun({.steps = 4, .gpu = true});
  const auto timeline = BuildTimeline(store);
  for (uint32_t track = 0; track < timeline->tracks().size(); ++track) {
    const std::vector<EventRow>& rows = timeline->tracks()[track].rows;
    for (uint32_t row = 0; row < rows.size(); ++row) {
      const EventPlace place = timeline->PlaceOf(rows[row].refs().back());
      EXPECT_EQ(place.track, track);
      EXPECT_EQ(place.row, row);
    }
  }
}

TEST(Timeline, HasGapsOfTheGpuWithTheirCause) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  build.Kernel(main, "a", 0, 10, 30);
  build.Kernel(main, "b", 85, 90, 95);
  const Store store = build.Build();
  const auto timeline = BuildTimeline(store);
  const Track* track = TrackOf(*timeline, TrackKind::kIdle);
  ASSERT_NE(track, nullptr);
  ASSERT_EQ(track->rows[0].refs().size(), 1u);
  const uint32_t gap = track->rows[0].refs()[0];
  EXPECT_EQ(timeline->events().Start(gap), 30);
  EXPECT_EQ(timeline->events().End(gap), 90);
  EXPECT_EQ(timeline->names().Text(timeline->events().Name(gap)), "idle: Python and other");
}

TEST(Timeline, NamesAProcessByItsProgram) {
  const Store store = testing::MakeSampleRun({});
  const auto timeline = BuildTimeline(store);
  ASSERT_FALSE(timeline->groups().empty());
  EXPECT_EQ(timeline->groups()[0].title, "rank 0, train.py (pid 4711)");
}

TEST(RunHash, StaysWhileARunGoesOn) {
  const auto hash_of = [](int64_t utc_ns, uint32_t program, int workers) {
    StoreBuilder build;
    build.store().session_start_utc_ns = utc_ns;
    build.Process(program, "train.py");
    for (int worker = 0; worker < workers; ++worker) {
      const ProcessId process = build.Process(program + 1 + uint32_t(worker), "train.py");
      build.store().processes.start_ns[process.row()] = 1000 + worker;
    }
    return RunHash(build.Build());
  };
  EXPECT_EQ(hash_of(5, 7, 0), hash_of(5, 7, 3)) << "workers of a DataLoader";
  EXPECT_NE(hash_of(5, 7, 0), hash_of(6, 7, 0));
  EXPECT_NE(hash_of(5, 7, 0), hash_of(5, 8, 0));
}

TEST(Timeline, SaysProcessWhereNoProgramIsKnown) {
  StoreBuilder build;
  build.Operator(build.Thread(build.Process(40, "", 1)), "aten::mm", 0, 10);
  const Store store = build.Build();
  EXPECT_EQ(BuildTimeline(store)->groups()[0].title, "rank 1, process (pid 40)");
}

TEST(Links, GoFromALaunchToItsKernelAndBack) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  build.Operator(main, "aten::mm", 0, 50, 7);
  build.Kernel(main, "gemm", 5, 60, 80);
  const Store store = build.Build();
  const auto timeline = BuildTimeline(store);
  const Links links(*timeline);
  const uint32_t kernel = timeline->events().TableWithKey("kernels")->first_ref;
  const std::vector<EventLink> found = links.Of(kernel, 10);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, "launch");
  EXPECT_EQ(found[0].to, kernel);
  EXPECT_EQ(links.Of(found[0].from, 10).size(), 1u);
}

// Both ranks have a track of the communicator; the same call on the other rank is one link away.
TEST(Timeline, HasCollectivesByCommunicatorAndLinksThemAcrossRanks) {
  const Store store = testing::MakeTwoRanks(12);
  const auto timeline = BuildTimeline(store);
  std::vector<const Track*> tracks;
  for (const Track& track : timeline->tracks()) {
    if (track.kind == TrackKind::kCollectives) tracks.push_back(&track);
  }
  ASSERT_EQ(tracks.size(), 2u);
  EXPECT_EQ(tracks[0]->title, "communicator 0, 2 ranks");
  EXPECT_EQ(timeline->groups()[size_t(tracks[0]->group)].rank, 0);
  EXPECT_EQ(timeline->groups()[size_t(tracks[1]->group)].rank, 1);
  ASSERT_EQ(tracks[0]->rows.size(), 1u);
  const std::vector<uint32_t>& first = tracks[0]->rows[0].refs();
  const std::vector<uint32_t>& second = tracks[1]->rows[0].refs();
  ASSERT_EQ(first.size(), 12u);
  ASSERT_EQ(second.size(), 12u);
  EXPECT_EQ(NamesOf(*timeline, tracks[0]->rows[0])[0], "AllReduce, 1.0 MB");
  const Events& events = timeline->events();
  EXPECT_EQ(events.End(first[0]) - events.Start(first[0]), 400'000);
  EXPECT_EQ(events.End(second[0]) - events.Start(second[0]), 100'000);

  const Links links(*timeline);
  for (size_t i = 0; i < first.size(); ++i) {
    std::vector<EventLink> across;
    std::vector<EventLink> own;
    for (const EventLink& link : links.Of(first[i], 100)) {
      (link.kind == "collective" ? across : own).push_back(link);
    }
    ASSERT_EQ(across.size(), 1u);
    EXPECT_EQ(across[0].from, first[i]);
    EXPECT_EQ(across[0].to, second[i]);
    ASSERT_EQ(own.size(), 2u);  // NCCL's call, and the kernel
    for (const EventLink& link : own) EXPECT_EQ(link.kind, "owner");
  }
  // From a kernel of one rank to that of the other.
  const EventTable& kernels = *events.TableWithKey("kernels");
  size_t across = 0;
  for (uint32_t row = 0; row < kernels.rows; ++row) {
    for (const EventLink& link : links.Of(kernels.first_ref + row, 100)) {
      if (link.kind != "collective") continue;
      ++across;
      EXPECT_NE(store.kernels.process[link.from - kernels.first_ref],
                store.kernels.process[link.to - kernels.first_ref]);
    }
  }
  EXPECT_EQ(across, 24u);  // each link from both ends
}

TEST(NameSearch, SumsAndOrdersByName) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  build.Operator(main, "aten::mm", 0, 50);
  build.Operator(main, "aten::MM_out", 60, 70);
  build.Operator(main, "aten::mm", 80, 90);
  build.Operator(main, "aten::add", 100, 105);
  const Store store = build.Build();
  const auto timeline = BuildTimeline(store, {.derived = false});
  const EventFilter filter = EventFilter::OfText(*timeline, "Mm");
  const std::vector<NameMatch> sums = SumByName(*timeline, filter);
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(timeline->names().Text(sums[0].name), "aten::mm");
  EXPECT_EQ(sums[0].count, 2u);
  EXPECT_EQ(sums[0].total_ns, 60);
  EXPECT_EQ(sums[0].longest_ns, 50);
  const Events& events = timeline->events();
  EXPECT_EQ(events.Start(NextEvent(*timeline, filter, {.at_ns = 0})), 60);
  EXPECT_EQ(events.Start(NextEvent(*timeline, filter, {.at_ns = 80, .forward = false})), 60);
  EXPECT_EQ(NextEvent(*timeline, filter, {.at_ns = 80}), kNoRef);
  EXPECT_EQ(events.Start(NthLongest(*timeline, filter, 0).ref), 0);
  EXPECT_EQ(NthLongest(*timeline, filter, 3).ref, kNoRef);
  EXPECT_EQ(NthLongest(*timeline, filter, 0, 55, 200).count, 2u);
  EXPECT_EQ(Density(*timeline, filter, 0, 100, 2), (std::vector<uint32_t>{1, 2}));
}

// "head" is a module, a part of a longer name, and a function's.
TEST(NameSearch, WhatIsCalledSoComesFirst) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  build.Operator(main, "forward of head", 0, 50);
  build.Module(main, "head", "Head", 60, 70);
  build.Operator(main, "head", 80, 120);
  build.Operator(main, "Tail", 130, 140);
  build.Operator(main, "tails", 150, 190);
  const Store store = build.Build();
  const auto timeline = BuildTimeline(store, {.derived = false});
  const Events& events = timeline->events();
  const auto longest = [&](const char* text, const char* table) {
    return events.Start(NthLongest(*timeline, EventFilter::Called(*timeline, text, table), 0).ref);
  };
  EXPECT_EQ(longest("head", ""), 80);
  EXPECT_EQ(longest("head", "module_calls"), 60);
  EXPECT_EQ(longest("hea", ""), 80);    // begins with it
  EXPECT_EQ(longest("of", ""), 0);      // in none but within longer names
  EXPECT_EQ(longest("tail", ""), 130);  // its case
  EXPECT_EQ(longest("tail", "operator_calls"), 130);
  EXPECT_EQ(NthLongest(*timeline, EventFilter::Called(*timeline, "tail", "module_calls"), 0).ref,
            kNoRef);
}

TEST(NameSearch, KnowsWhereANameHasTheText) {
  EXPECT_EQ(PlaceOfText("Head", "head"), TextAt::kWhole);
  EXPECT_EQ(PlaceOfText("head", "HEA"), TextAt::kBegin);
  EXPECT_EQ(PlaceOfText("head", ""), TextAt::kBegin);
  EXPECT_EQ(PlaceOfText("forward of head", "head"), TextAt::kWithin);
  EXPECT_EQ(PlaceOfText("head", "heads"), TextAt::kNowhere);
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  build.Operator(main, "forward of head", 0, 10);
  build.Operator(main, "heads", 20, 30);
  build.Operator(main, "head", 40, 50);
  const Store store = build.Build();
  const auto timeline = BuildTimeline(store, {.derived = false});
  const auto next = [&](TextAt place) {
    const EventFilter filter = EventFilter::OfTextAt(*timeline, "head", place);
    return timeline->events().Start(NextEvent(*timeline, filter, {.at_ns = -1}));
  };
  EXPECT_EQ(next(TextAt::kWhole), 40);
  EXPECT_EQ(next(TextAt::kBegin), 20);
  EXPECT_EQ(next(TextAt::kWithin), 0);
}

// A gap of several causes is one of the gaps, and one event for each cause; each time counts once.
TEST(NameSearch, CountsIdleTimeOnce) {
  const Store store = testing::MakeSampleRun({.steps = 10, .gpu = true});
  const auto timeline = BuildTimeline(store);
  const Events& events = timeline->events();
  int64_t idle_ns = 0;
  const EventTable& gaps = *events.TableWithKey("gpu_idle");
  for (uint32_t row = 0; row < gaps.rows; ++row) idle_ns += gaps.end_ns[row] - gaps.start_ns[row];
  ASSERT_GT(events.TableWithKey("gpu_idle_causes")->rows, 0u);

  int64_t found_ns = 0;
  for (const NameMatch& sum : SumByName(*timeline, EventFilter::OfText(*timeline, "idle"))) {
    EXPECT_EQ(sum.table, "gpu_idle_causes");
    found_ns += sum.total_ns;
  }
  EXPECT_EQ(found_ns, idle_ns);
  for (const std::string_view table : {"gpu_idle", "gpu_idle_causes"}) {
    const std::vector<NameMatch> sums =
        SumByName(*timeline, EventFilter::OfText(*timeline, "idle").In(table));
    int64_t total_ns = 0;
    for (const NameMatch& sum : sums) total_ns += sum.total_ns;
    EXPECT_EQ(total_ns, idle_ns) << table;
  }
  EXPECT_EQ(NthLongest(*timeline, EventFilter::OfTable(*timeline, "gpu_idle"), 0).count, gaps.rows);
  // Called by its name, a gap is meant: what I shows, too.
  const uint32_t longest =
      NthLongest(*timeline, EventFilter::OfTable(*timeline, "gpu_idle"), 0).ref;
  const std::string_view name = timeline->names().Text(events.Name(longest));
  EXPECT_EQ(NthLongest(*timeline, EventFilter::Called(*timeline, name, ""), 0).ref, longest);
}

TEST(NameSearch, TellsEventsOfOneNameApartByTheirTable) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  build.Operator(main, "forward", 0, 50);
  build.Range(main, "forward", 0, 60);
  const Store store = build.Build();
  const auto timeline = BuildTimeline(store, {.derived = false});
  const std::vector<NameMatch> sums =
      SumByName(*timeline, EventFilter::OfText(*timeline, "forward"));
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].table, "nvtx_ranges");
  EXPECT_EQ(sums[0].total_ns, 60);
  EXPECT_EQ(sums[1].table, "operator_calls");
  EXPECT_EQ(sums[1].count, 1u);
}

std::string TextOf(const ResultTable& table) {
  std::string text = table.name + "\n";
  for (const std::vector<Cell>& row : table.rows) {
    for (const Cell& cell : row) {
      if (const auto* words = std::get_if<std::string>(&cell)) text += *words;
      if (const auto* number = std::get_if<int64_t>(&cell)) text += std::to_string(*number);
      if (const auto* real = std::get_if<double>(&cell)) text += std::to_string(*real);
      text += ',';
    }
    text += '\n';
  }
  return text;
}

// Two ranks, the second one half a step behind: a time in the first one's step 6 is in the
// other's 5.
void ExpectStepsOfEachRank(uint32_t first_pid, uint32_t second_pid) {
  StoreBuilder build;
  for (uint32_t rank = 0; rank < 2; ++rank) {
    const ThreadId thread =
        build.Thread(build.Process(rank == 0 ? first_pid : second_pid, "train.py", int32_t(rank)));
    for (int64_t i = 0; i < 10; ++i) {
      const int64_t t = i * 1'000'000 + rank * 500'000;
      build.Range(thread, "step", t, t + 1'000'000);
      build.Operator(thread, i == 5 ? "aten::fifth" : "aten::mm", t + 2'000, t + 300'000);
    }
  }
  const Store store = build.Build();
  const auto timeline = BuildTimeline(store);
  ASSERT_EQ(timeline->steps().processes.size(), 2u);
  RangeTableMaker maker(*timeline, {});
  // The operator of one rank for the whole time, of two the half.
  const auto touched = [&](int64_t from_ns, int64_t to_ns, const char* name) {
    const RangeTables made =
        maker.Make({.from_ns = from_ns, .to_ns = to_ns, .keys = {"steps", "operators"}});
    EXPECT_EQ(made.tables.size(), 1u);
    const ResultTable& operators = made.tables.at(0);
    EXPECT_EQ(operators.rows.at(0).at(0), Cell{std::string(name)});
    const Cell& self = operators.rows[0][ColumnWithKey(operators, "self_per_step")];
    EXPECT_EQ(self, NanosecondsCell(double(to_ns - from_ns) / 2));
    std::vector<std::pair<int32_t, int64_t>> steps;
    for (const TouchedSteps& of : made.processes) {
      EXPECT_EQ(of.first_step, of.last_step);
      steps.emplace_back(of.rank, of.first_step);
    }
    return steps;
  };
  using Steps = std::vector<std::pair<int32_t, int64_t>>;
  EXPECT_EQ(touched(6'100'000, 6'200'000, "aten::mm"), (Steps{{0, 6}, {1, 5}}));
  EXPECT_EQ(touched(5'600'000, 5'700'000, "aten::fifth"), (Steps{{0, 5}, {1, 5}}));
  // Of the last half step only the second rank has one.
  const RangeTables late =
      maker.Make({.from_ns = 10'100'000, .to_ns = 10'200'000, .keys = {"steps"}});
  ASSERT_EQ(late.processes.size(), 1u);
  EXPECT_EQ(late.processes[0].rank, 1);
  EXPECT_EQ(late.first_step, 9);
  EXPECT_EQ(touched(6'100'000, 6'200'000, "aten::mm"), (Steps{{0, 6}, {1, 5}}));
}

TEST(RangeTables, TakeTheStepsOfEachRank) { ExpectStepsOfEachRank(100, 101); }

TEST(RangeTables, HaveTheTimeOfTheProcessWhoseStepsAreAskedFor) {
  StoreBuilder build;
  for (uint32_t rank = 0; rank < 2; ++rank) {
    const ThreadId thread = build.Thread(build.Process(100 + rank, "train.py", int32_t(rank)));
    for (int64_t i = 0; i < 10 + rank; ++i) {
      const int64_t t = i * 1'000'000 + rank * 500'000;
      build.Range(thread, "step", t, t + 1'000'000);
    }
  }
  const Store store = build.Build();
  const auto timeline = BuildTimeline(store);
  RangeTableMaker maker(*timeline, {});
  const auto step = [&](int64_t number, size_t process) {
    return maker.Make({.by_steps = true,
                       .first_step = number,
                       .last_step = number,
                       .process = process,
                       .keys = {"events"}});
  };
  EXPECT_EQ(step(4, 0).from_ns, 4'000'000);
  EXPECT_EQ(step(4, 1).from_ns, 4'500'000);
  EXPECT_EQ(step(4, 1).to_ns, 5'500'000);
  EXPECT_EQ(step(4, 1).processes.size(), 2u);
  // The first process has no such step.
  EXPECT_EQ(step(10, 1).from_ns, 10'500'000);
  EXPECT_EQ(step(10, 1).processes.size(), 1u);
  EXPECT_NE(step(10, 0).problem, "");
  EXPECT_NE(step(0, 2).problem, "");
}

// In containers, each host's program is process 1.
TEST(RangeTables, TakeTheStepsOfRanksWithOnePid) { ExpectStepsOfEachRank(1, 1); }

// "early" is the run's longest kernel, and the shorter one in the last steps.
TEST(RangeTables, HaveWhatTakesLongestInTheStepsFirst) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t t = i * 1'000'000;
    const int64_t early_ns = i < 10 ? 400'000 : 10'000;
    build.Range(main, "step", t, t + 990'000);
    build.Kernel(main, "gemm", t + 3'000, t + 310'000, t + 410'000);
    build.Kernel(main, "early", t + 4'000, t + 420'000, t + 420'000 + early_ns);
  }
  const Store store = build.Build();
  const auto timeline = BuildTimeline(store);
  RangeTableMaker maker(*timeline, {});
  const auto first_kernel = [&](int64_t step) {
    const RangeTables made =
        maker.Make({.by_steps = true, .first_step = step, .last_step = step, .keys = {"kernels"}});
    return std::get<std::string>(made.tables.at(0).rows.at(0).at(0));
  };
  EXPECT_EQ(first_kernel(5), "early");
  EXPECT_EQ(first_kernel(15), "gemm");
}

// A kernel runs in the first half of the run alone: the steps behind it know nothing of it, and no
// number of any table of theirs grows with the run.
TEST(RangeTables, SayNothingOfTheRestOfTheRun) {
  std::vector<std::string> tables;
  for (const int64_t steps : {20, 40}) {
    StoreBuilder build;
    const ThreadId main = build.Thread(build.Process(100, "train.py"));
    for (int64_t i = 0; i < steps; ++i) {
      const int64_t t = i * 1'000'000;
      build.Range(main, "step", t, t + 990'000);
      build.Module(main, "net", "Net", t + 1'000, t + 900'000);
      build.Operator(main, "aten::mm", t + 2'000, t + 300'000);
      build.Kernel(main, "gemm", t + 3'000, t + 310'000, t + 510'000);
      if (i < 10) build.Kernel(main, "early", t + 4'000, t + 520'000, t + 560'000);
    }
    const Store store = build.Build();
    const auto timeline = BuildTimeline(store);
    const RangeTables made =
        RangeTableMaker(*timeline, {}).Make({.by_steps = true, .first_step = 14, .last_step = 15});
    std::string text;
    for (const ResultTable& table : made.tables) {
      if (table.name == "gpu_parts" || table.name == "steps") continue;
      text += TextOf(table);
    }
    EXPECT_EQ(text.find("early"), std::string::npos) << text;
    EXPECT_NE(text.find("gemm"), std::string::npos) << text;
    tables.push_back(text);
  }
  EXPECT_EQ(tables[0], tables[1]);
}

// Of exactly the time, not of the steps around it.
TEST(RangeTables, HaveTheMemoryOfExactlyTheTime) {
  StoreBuilder build;
  const ProcessId process = build.Process(100, "train.py", 3);
  build.Operator(build.Thread(process), "aten::mm", 0, 1000);
  const auto change = [&](int64_t at_ns, uint64_t address, uint64_t bytes, bool release) {
    build.store().gpu_memory_events.Append(
        {.start_ns = at_ns,
         .process = process,
         .address = address,
         .bytes = bytes,
         .memory_kind = MemoryKind::kDevice,
         .operation = release ? MemoryOperation::kRelease : MemoryOperation::kAllocation});
  };
  change(100, 1, 4000, false);
  change(200, 2, 6000, false);
  change(300, 2, 6000, true);
  change(400, 3, 500, false);
  const Store store = build.Build();
  const auto timeline = BuildTimeline(store);
  RangeTableMaker maker(*timeline, {});
  const RangeTables made = maker.Make({.from_ns = 150, .to_ns = 350, .keys = {"memory"}});
  ASSERT_EQ(made.tables.size(), 1u);
  EXPECT_EQ(made.tables[0].name, "memory");
  const std::vector<Cell>& all = made.tables[0].rows[0];
  EXPECT_EQ(std::get<std::string>(all[0]), "rank 3");
  EXPECT_EQ(std::get<std::string>(all[3]), "all");
  const std::vector<int64_t> expected = {4000, 10000, 4000, 6000, 6000};
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(std::get<int64_t>(all[4 + i]), expected[i]) << i;
  }
  EXPECT_TRUE(maker.Make({.from_ns = 0, .to_ns = 50, .keys = {"memory"}}).tables.empty());
}

TEST(RangeTables, CutEventsAtTheEdges) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  build.Operator(main, "aten::mm", 0, 50);
  build.Operator(main, "aten::mm", 60, 100);
  const Store store = build.Build();
  const auto timeline = BuildTimeline(store, {.derived = false});
  const ResultTable table = EventsInRange(*timeline, 40, 80);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(std::get<int64_t>(table.rows[0][2]), 2);
  EXPECT_EQ(std::get<int64_t>(table.rows[0][3]), 30);
  EXPECT_EQ(std::get<int64_t>(table.rows[0][4]), 20);
}

}  // namespace
}  // namespace batchlight::timeline
