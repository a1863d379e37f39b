// The timeline's index and its answers: how long the index takes to build, what it costs in memory,
// pictures at all zooms, searches, tables of a part. Of a recording, or of made-up nested calls of
// several threads. Processor time and wall time, medians of ROUNDS. docs/benchmarks.md has the
// results.
//
//   timeline_bench [MILLIONS | RUN] [ROUNDS, 5 by default] [NAME: only what has it in its line]
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "ingest/open_input.h"
#include "store/finish.h"
#include "store/store.h"
#include "timeline/answers/events_in_range.h"
#include "timeline/answers/name_search.h"
#include "timeline/answers/range_tables.h"
#include "timeline/answers/viewport.h"
#include "timeline/index/timeline.h"
#include "timeline/tracks/build_timeline.h"

namespace batchlight::timeline {
namespace {

constexpr size_t kThreads = 12;  // of five rows each, their streams' among them
int g_rounds = 5;
std::string g_only;

double CpuMs() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

// Modules of five operators of two operators with a CUDA call each, on so many threads; a kernel
// for each call. In the order in which a finished store has them.
Store MakeStore(size_t events, size_t threads) {
  Store store;
  std::mt19937 random(1);
  std::vector<StringId> modules, operators, kernels;
  for (int i = 0; i < 200; ++i) {
    modules.push_back(store.strings.Intern("encoder.layers." + std::to_string(i)));
    operators.push_back(store.strings.Intern("aten::operator" + std::to_string(i)));
    kernels.push_back(store.strings.Intern("kernel" + std::to_string(i)));
  }
  const StringId call_name = store.strings.Intern("cudaLaunchKernel_v7000");
  store.processes.Append({.pid = 100, .name = store.strings.Intern("train.py")});
  uint32_t correlation = 0;
  for (size_t thread = 0; thread < threads; ++thread) {
    store.threads.Append({.process = ProcessId::At(0), .tid = static_cast<uint32_t>(100 + thread)});
    const ThreadId id = ThreadId::At(thread);
    int64_t now_ns = static_cast<int64_t>(thread) * 1000;
    for (size_t made = 0; made < events / threads; made += 1 + 5 + 10 + 10 + 10) {
      const size_t module = store.module_calls.size();
      store.module_calls.Append(
          {.start_ns = now_ns, .thread = id, .path = modules[random() % 200]});
      for (int outer = 0; outer < 5; ++outer) {
        now_ns += 500 + random() % 500;
        const size_t row = store.operator_calls.size();
        store.operator_calls.Append(
            {.start_ns = now_ns, .thread = id, .name = operators[random() % 200], .sequence = -1});
        for (int inner = 0; inner < 2; ++inner) {
          now_ns += 300;
          const int64_t end_ns = now_ns + 4000 + static_cast<int64_t>(random() % 3000);
          store.operator_calls.Append({.start_ns = now_ns,
                                       .end_ns = end_ns,
                                       .thread = id,
                                       .name = operators[random() % 200],
                                       .sequence = -1});
          store.api_calls.Append({.start_ns = now_ns + 1000,
                                  .end_ns = end_ns - 500,
                                  .thread = id,
                                  .name = call_name,
                                  .correlation = ++correlation});
          store.kernels.Append({.start_ns = now_ns + 3000,
                                .end_ns = now_ns + 3000 + 2000,
                                .process = ProcessId::At(0),
                                .correlation = correlation,
                                .stream = static_cast<uint32_t>(7 + thread),
                                .short_name = kernels[random() % 200]});
          now_ns = end_ns;
        }
        store.operator_calls.end_ns[row] = now_ns + 200;
        now_ns += 200;
      }
      store.module_calls.end_ns[module] = now_ns + 300;
      now_ns += 300;
    }
    store.duration_ns = std::max(store.duration_ns, now_ns);
  }
  FinishStore(store);
  return store;
}

double Median(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <typename Work>
void Measure(const std::string& what, Work&& work) {
  if (what.find(g_only) == std::string::npos) return;
  std::vector<double> cpu_ms, wall_ms;
  for (int round = 0; round < g_rounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    const double before_ms = CpuMs();
    work();
    cpu_ms.push_back(CpuMs() - before_ms);
    const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - begin;
    wall_ms.push_back(wall.count());
  }
  std::printf("%-46s %9.1f ms CPU %9.1f ms\n", what.c_str(), Median(cpu_ms), Median(wall_ms));
}

// `tenth`: of the time.
void MeasureRanges(const Timeline& timeline, const RangeRequest& tenth) {
  if (const ProcessSteps* loop = timeline.steps().Main()) {
    const std::vector<Step>& steps = loop->steps;
    const RangeRequest of_steps{.by_steps = true,
                                .first_step = steps[steps.size() * 45 / 100].number,
                                .last_step = steps[steps.size() * 55 / 100].number};
    RangeTableMaker tables(timeline, {});
    Measure("all range tables of a tenth of the steps, first", [&] {
      RangeTableMaker first(timeline, {});
      first.Make(of_steps);
    });
    tables.Make(of_steps);
    Measure("all range tables of a tenth of the steps, again", [&] { tables.Make(of_steps); });
    for (const char* key :
         {"phases", "operators", "modules", "kernels", "collectives", "nvtx_ranges", "roofline"}) {
      RangeRequest one = of_steps;
      one.keys = {key};
      Measure(std::string("    first, ") + key, [&] { RangeTableMaker(timeline, {}).Make(one); });
    }
  }
  {
    RangeTableMaker tables(timeline, {});
    Measure("all range tables of a tenth of the time, first", [&] {
      RangeTableMaker first(timeline, {});
      first.Make(tenth);
    });
    tables.Make(tenth);  // also where there is one round only
    Measure("all range tables of a tenth of the time, again", [&] { tables.Make(tenth); });
    for (const char* key : {"events", "phases", "operators", "modules", "kernels", "collectives",
                            "nvtx_ranges", "roofline"}) {
      RangeRequest one = tenth;
      one.keys = {key};
      Measure(std::string("    ") + key, [&] { tables.Make(one); });
    }
  }
}

int Main(const Store& store) {
  std::unique_ptr<Timeline> timeline;
  Measure("index with steps, phases, gaps, memory", [&] { timeline = BuildTimeline(store); });
  if (timeline == nullptr) timeline = BuildTimeline(store);
  const int64_t first_ns = timeline->events().run_start_ns();
  const int64_t all_ns = timeline->events().run_end_ns() - first_ns;
  const RangeRequest tenth{.from_ns = first_ns + all_ns * 45 / 100,
                           .to_ns = first_ns + all_ns * 55 / 100};
  MeasureRanges(*timeline, tenth);
  Measure("index, without what analyses find",
          [&] { timeline = BuildTimeline(store, {.derived = false}); });
  uint64_t events = 0;
  uint32_t rows = 0;
  ViewRequest request{.from_ns = first_ns, .to_ns = first_ns + all_ns, .rows = {}};
  for (uint32_t id = 0; id < timeline->tracks().size(); ++id) {
    const Track& track = timeline->tracks()[id];
    events += track.event_count();
    const auto taken = static_cast<uint32_t>(std::min<size_t>(track.rows.size(), 60 - rows));
    rows += taken;
    request.rows.push_back({id, 0, taken});
  }
  std::printf("%llu events, index of %.2f bytes each\n", static_cast<unsigned long long>(events),
              static_cast<double>(timeline->index_bytes()) / static_cast<double>(events));
  for (int shift = 0; shift <= 12; shift += 2) {
    ViewRequest part = request;
    part.to_ns = first_ns + (all_ns >> shift);
    part.step_ns = std::max<int64_t>(1, (all_ns >> shift) / 2048);
    size_t bytes = 0;
    Measure(
        "view, " + std::to_string(rows) + " rows, 1/" + std::to_string(1 << shift) + " of the run",
        [&] { bytes = AnswerView(*timeline, part).size(); });
    std::printf("    %zu bytes\n", bytes);
  }
  Measure("find \"layers.1\"",
          [&] { SumByName(*timeline, EventFilter::OfText(*timeline, "layers.1")); });
  Measure("find \"mm\"", [&] { SumByName(*timeline, EventFilter::OfText(*timeline, "mm")); });
  Measure("find all", [&] { SumByName(*timeline, EventFilter::OfText(*timeline, "")); });
  Measure("events by name, the whole run", [&] { EventsInRange(*timeline, 0, store.duration_ns); });
  Measure("events by name, a tenth", [&] { EventsInRange(*timeline, tenth.from_ns, tenth.to_ns); });
  return 0;
}

}  // namespace
}  // namespace batchlight::timeline

int main(int argc, char** argv) {
  const int millions = argc > 1 ? std::atoi(argv[1]) : 10;
  if (argc > 2) batchlight::timeline::g_rounds = std::max(1, std::atoi(argv[2]));
  if (argc > 3) batchlight::timeline::g_only = argv[3];
  if (millions > 0) {
    return batchlight::timeline::Main(batchlight::timeline::MakeStore(
        static_cast<size_t>(millions) * 1'000'000, batchlight::timeline::kThreads));
  }
  const auto store = batchlight::OpenInput(argv[1]);
  if (!store.ok()) {
    std::fprintf(stderr, "%s\n", store.status().message().c_str());
    return 1;
  }
  return batchlight::timeline::Main(store.value());
}
