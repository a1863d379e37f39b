// Rules about Python that only some steps run.
#include <gtest/gtest.h>

#include "analysis/advice/advice_text.h"
#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

// In /home/u/train.py, called by nobody: a frame, and a stack of it alone.
void AddFunction(StoreBuilder& build, const char* function, uint32_t line) {
  build.store().python_frames.Append({.file = build.Text("/home/u/train.py"),
                                      .function = build.Text(function),
                                      .first_line = 1,
                                      .line = line});
  build.store().python_stacks.Append(
      {.frame = PythonFrameId::At(build.store().python_frames.size() - 1)});
}

// A quarter of the steps hold 20 ms in `draw`, for `busy_ns` of which it had a processor; of 4 ms
// of other work in each step for `works_ns`.
std::vector<Finding> FindingsOfDrawing(int64_t busy_ns, int64_t works_ns = 4 * kMs) {
  StoreBuilder build;
  build.store().python_frames.Append({.file = build.Text("/home/u/train.py"),
                                      .function = build.Text("draw"),
                                      .first_line = 40,
                                      .line = 42});
  build.store().python_stacks.Append({.frame = PythonFrameId::At(0)});
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  const auto sample = [&](PythonStackId stack, int64_t from_ns, int64_t took_ns, int64_t cpu_ns) {
    build.store().python_samples.Append({.start_ns = from_ns,
                                         .end_ns = from_ns + took_ns,
                                         .thread = thread,
                                         .python_stack = stack,
                                         .samples = 1,
                                         .cpu_ns = cpu_ns});
  };
  int64_t t = 0;
  for (int i = 0; i < 40; ++i) {
    const int64_t pause_ns = i % 4 == 1 ? 20 * kMs : 0;
    build.Range(thread, "step", t, t + pause_ns + 10 * kMs - 1000);
    build.Operator(thread, "aten::mm", t, t + 5 * kMs);
    sample(PythonStackId::At(0), t, 4 * kMs, works_ns);
    if (pause_ns > 0) sample(PythonStackId::At(0), t + 5 * kMs, 19 * kMs, busy_ns);
    build.Operator(thread, "aten::mm", t + 5 * kMs + pause_ns, t + pause_ns + 10 * kMs - 2000);
    t += pause_ns + 10 * kMs;
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(LoopRules, WhatSomeStepsDoForLongIsNamed) {
  const auto findings = FindingsOfDrawing(18 * kMs);
  const Finding* found = FindRule(findings, "python-work");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "`draw` (train.py:42): 33 % of the mean step, in 10 of 40 steps");
  EXPECT_NEAR(found->gain_ns, 0.8 * 5 * kMs, 0.1 * kMs);
  EXPECT_EQ(found->action.find("Do it in fewer steps"), 0u) << found->action;
  EXPECT_EQ(FindRule(FindingsOfDrawing(kMs), "python-work"), nullptr) << "it only waited";
  // As the whole loop does: what it waits for is all there is to find.
  const auto sleeping = FindingsOfDrawing(2 * kMs, kMs / 2);
  const Finding* sleeps = FindRule(sleeping, "python-work");
  ASSERT_NE(sleeps, nullptr);
  EXPECT_EQ(sleeps->action.find("Look what it waits for"), 0u) << sleeps->action;
}

// A request for each step's metrics: 5 ms of operators, 5 ms in which the loop sleeps.
TEST(LoopRules, AFunctionThatWaitsInEachStepIsNamed) {
  StoreBuilder build;
  for (const char* function : {"train", "send"}) AddFunction(build, function, 9);
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  for (int64_t i = 0; i < 40; ++i) {
    const int64_t at = i * 10 * kMs;
    build.Range(thread, "step", at, at + 10 * kMs - 1000);
    build.Operator(thread, "aten::mm", at, at + 5 * kMs);
    for (size_t stack = 0; stack < 2; ++stack) {
      build.store().python_samples.Append({.start_ns = at + int64_t(stack) * 5 * kMs,
                                           .end_ns = at + int64_t(stack + 1) * 5 * kMs - 2000,
                                           .thread = thread,
                                           .python_stack = PythonStackId::At(stack),
                                           .samples = 5,
                                           .cpu_ns = stack == 0 ? 5 * kMs : kMs / 10});
    }
  }
  const auto findings = BuildOverview(build.Build()).findings;
  const Finding* found = FindRule(findings, "python-work");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "`send` (train.py:9): the loop waits there for 49 % of a step");
  EXPECT_NEAR(found->gain_ns, 0.95 * 5 * kMs, 0.2 * kMs);
}

// A metric that reads a mask pixel by pixel: 200 operators of 20 us, 20 us of Python after each.
TEST(LoopRules, ALoopOverValuesIsToldWithItsPython) {
  for (const bool in_one_function : {true, false}) {
    StoreBuilder build;
    for (const char* function : {"train", "update"}) AddFunction(build, function, 9);
    const ThreadId thread = build.Thread(build.Process(7, "train.py"));
    const auto sample = [&](size_t stack, int64_t from_ns, int64_t to_ns) {
      build.store().python_samples.Append({.start_ns = from_ns,
                                           .end_ns = to_ns,
                                           .thread = thread,
                                           .python_stack = PythonStackId::At(stack),
                                           .samples = 1,
                                           .cpu_ns = to_ns - from_ns});
    };
    int64_t sequence = 0;
    for (int64_t i = 0; i < 40; ++i) {
      const int64_t at = i * 14 * kMs;
      build.Range(thread, "step", at, at + 14 * kMs - 1000);
      build.Operator(thread, "aten::linear", at, at + 2 * kMs, ++sequence);
      sample(0, at, at + 2 * kMs);
      for (int64_t n = 0; n < 200; ++n) {
        const int64_t from = at + 2 * kMs + n * 60'000;
        build.Operator(thread, "aten::select", from, from + 20'000);
        sample(1, from, from + 20'000);
        sample(in_one_function ? 1 : 0, from + 20'000, from + 60'000);
      }
    }
    const auto findings = BuildOverview(build.Build()).findings;
    const Finding* found = FindRule(findings, "unfused-updates");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(FindRule(findings, "python-work") == nullptr, in_one_function);
    EXPECT_EQ(found->action.find("Compute with the whole tensor"), 0u) << found->action;
    if (!in_one_function) continue;
    EXPECT_EQ(found->title.find("`update` (train.py:9): small operators and the Python between"),
              0u)
        << found->title;
    EXPECT_NEAR(found->gain_ns, 10 * kMs, kMs);
  }
}

// Another thread has the lock that `send` waits for.
TEST(LoopRules, WhoHadTheLockIsNamed) {
  StoreBuilder build;
  for (const char* function : {"train", "send", "log"}) {
    AddFunction(build, function, uint32_t(*function));
  }
  const ProcessId process = build.Process(7, "train.py");
  const ThreadId thread = build.Thread(process), logger = build.Thread(process);
  build.store().threads.tid[logger.row()] = 99;
  build.store().threads.name[logger.row()] = build.Text("metrics");
  const auto sample = [&](ThreadId of, int64_t from_ns, size_t stack, int64_t cpu_ns) {
    build.store().python_samples.Append({.start_ns = from_ns,
                                         .end_ns = from_ns + 5 * kMs - 2000,
                                         .thread = of,
                                         .python_stack = PythonStackId::At(stack),
                                         .samples = 5,
                                         .cpu_ns = cpu_ns});
  };
  for (int64_t i = 0; i < 40; ++i) {
    const int64_t at = i * 10 * kMs;
    build.Range(thread, "step", at, at + 10 * kMs - 1000);
    build.Operator(thread, "aten::mm", at, at + 5 * kMs);
    sample(thread, at, 0, 5 * kMs);
    sample(thread, at + 5 * kMs, 1, kMs / 10);
    sample(logger, at + 5 * kMs, 2, kMs / 10);
    build.store().os_calls.Append({.start_ns = at + 5 * kMs - 2000,
                                   .end_ns = at + 10 * kMs - 2000,
                                   .thread = thread,
                                   .name = build.Text("sem_wait"),
                                   .object = 64,
                                   .released_by = 99});
  }
  const auto findings = BuildOverview(build.Build()).findings;
  const Finding* found = FindRule(findings, "python-work");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(
      found->seen.find("For 5.00 ms of a step it waits for a lock that the thread `metrics` (TID "
                       "99) had, which was mostly in train.py:108 meanwhile."),
      std::string::npos)
      << found->seen;
  EXPECT_EQ(found->action.find("Hold the lock for less of the work in train.py:108. Look"), 0u)
      << found->action;
}

// The stack of `inner` of `file`, called by the user's `function` in a line of train.py.
PythonStackId CalledBy(const char* function, uint32_t line, const char* file, const char* inner,
                       StoreBuilder& build) {
  build.store().python_frames.Append({.file = build.Text("/home/u/train.py"),
                                      .function = build.Text(function),
                                      .first_line = 70,
                                      .line = line});
  build.store().python_frames.Append(
      {.file = build.Text(file), .function = build.Text(inner), .line = 128});
  build.store().python_stacks.Append({.frame = PythonFrameId::At(0)});
  build.store().python_stacks.Append(
      {.frame = PythonFrameId::At(1), .parent = PythonStackId::At(0)});
  return PythonStackId::At(1);
}

// Steps of 10 ms, for half of which samples are in `inner` of `file`, called by the user's
// `update`.
std::vector<Finding> FindingsOfCopies(const char* file, const char* inner) {
  StoreBuilder build;
  const PythonStackId stack = CalledBy("update", 79, file, inner, build);
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  for (int64_t i = 0, t = 0; i < 30; ++i, t += 10 * kMs) {
    build.Range(thread, "step", t, t + 10 * kMs - 1000);
    build.store().python_samples.Append({.start_ns = t + kMs,
                                         .end_ns = t + 6 * kMs,
                                         .thread = thread,
                                         .python_stack = stack,
                                         .samples = 1});
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

// A stack: this function at a line, called by `parent`.
PythonStackId Call(const char* file, const char* function, uint32_t line, PythonStackId parent,
                   StoreBuilder& build) {
  Store& store = build.store();
  store.python_frames.Append(
      {.file = build.Text(file), .function = build.Text(function), .first_line = 1, .line = line});
  store.python_stacks.Append(
      {.frame = PythonFrameId::At(store.python_frames.size() - 1), .parent = parent});
  return PythonStackId::At(store.python_stacks.size() - 1);
}

// What the loop of a package copies, and what else its line does.
struct Copying {
  bool copies = true;
  bool workers = true;         // load the batch
  uint64_t bytes = 64 << 20;   // of a batch
  int pictures = 0;            // the line reads and copies one after the other, for 5 ms together
  uint64_t to_host_bytes = 0;  // a copy the other way
};

// 20 steps of 10 ms of a loop that a package runs, which the main program calls: in 4 ms of each it
// is in `advance` of the package, behind a copy of 1 ms.
std::vector<Finding> FindingsOfTrainer(const Copying& copying) {
  StoreBuilder build;
  Store& store = build.store();
  const auto stack = [&](const char* file, const char* function, uint32_t line,
                         PythonStackId parent) {
    return Call(file, function, line, parent, build);
  };
  const char* package = "/usr/lib/python3/site-packages/lightning/loop.py";
  const PythonStackId main = stack("/home/u/train.py", "<module>", 169, PythonStackId::None());
  const PythonStackId run = stack(package, "Loop.run", 153, main);
  const PythonStackId advance = stack(package, "Loop.advance", 322, run);
  const PythonStackId move = stack(package, "move_to_device", 80, advance);
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  const auto sample = [&](PythonStackId at, int64_t from_ns, int64_t to_ns) {
    store.python_samples.Append({.start_ns = from_ns,
                                 .end_ns = to_ns,
                                 .thread = thread,
                                 .python_stack = at,
                                 .samples = 1,
                                 .cpu_ns = to_ns - from_ns});
  };
  const auto copy = [&](int64_t from_ns, int64_t to_ns, uint64_t bytes, PythonStackId line) {
    build.Operator(thread, "aten::copy_", from_ns, to_ns);
    build.Copy(thread, CopyKind::kHostToDevice, MemoryKind::kPageable, MemoryKind::kDevice, bytes,
               from_ns + 100, from_ns + 1000, to_ns - 1000);
    store.api_calls.end_ns.back() = to_ns - 500;
    sample(line, from_ns, to_ns - 2000);
  };
  for (int64_t i = 0, t = 0; i < 20; ++i, t += 10 * kMs) {
    build.Range(thread, "step", t, t + 10 * kMs - 1000);
    if (copying.copies && copying.pictures == 0) {
      copy(t, t + kMs, copying.bytes, move);
      sample(advance, t + kMs, t + 5 * kMs - 1000);
    }
    if (!copying.copies) sample(advance, t + kMs, t + 5 * kMs - 1000);
    for (int picture = 0; picture < copying.pictures; ++picture) {
      const int64_t each_ns = 5 * kMs / copying.pictures;
      const int64_t at = t + picture * each_ns, read = at + each_ns * 4 / 5;
      sample(advance, at + 1000, read - 1000);
      copy(read, at + each_ns, copying.bytes / uint64_t(copying.pictures), advance);
    }
    if (copying.to_host_bytes > 0) {
      build.Copy(thread, CopyKind::kDeviceToHost, MemoryKind::kDevice, MemoryKind::kPageable,
                 copying.to_host_bytes, t + 9 * kMs, t + 9 * kMs + 1000, t + 9 * kMs + 200'000);
    }
    if (copying.workers) {
      build.Phase(thread, Phase::kDataLoaderNext,
                  "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                  t + 10 * kMs - 1800, t + 10 * kMs - 1500);
    }
    sample(run, t + 5 * kMs, t + 9 * kMs);
    build.Operator(thread, "aten::mm", t + 5 * kMs, t + 10 * kMs - 2000);
    build.Kernel(thread, "nvjet_hsh_128", t + 5 * kMs + 1000, t + 5 * kMs + 9000,
                 t + 10 * kMs - 3000);
  }
  const Store built = build.Build();
  return BuildOverview(built).findings;
}

TEST(PythonRules, WhatAPackageDoesThatRunsTheLoopIsNotThePrograms) {
  const auto findings = FindingsOfTrainer({.copies = false});
  const Finding* found = FindRule(findings, "python-work");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title.find("`Loop.advance` (loop.py:322): "), 0u) << found->title;
  EXPECT_NE(found->title.find("is Python of lightning"), std::string::npos) << found->title;
  EXPECT_EQ(found->title.find("your own"), std::string::npos) << found->title;
}

// The line that copied goes on: it frees what it has copied.
TEST(PythonRules, FreeingABatchBelongsToItsCopy) {
  const auto findings = FindingsOfTrainer({});
  EXPECT_EQ(FindRule(findings, "python-work"), nullptr);
  const Finding* found = FindRule(findings, "pageable-copy");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.85 * (1 + 4) * kMs, 0.1 * kMs);
  EXPECT_NE(found->seen.find("frees the batch's memory"), std::string::npos) << found->seen;
  EXPECT_NE(found->action.find("uint8"), std::string::npos) << found->action;
}

TEST(PythonRules, OnlyFreeingIsToldAsFreeing) {
  const auto expect_python = [](const Copying& copying, double least_ms, const char* what) {
    const auto findings = FindingsOfTrainer(copying);
    const Finding* copy = FindRule(findings, "pageable-copy");
    ASSERT_NE(copy, nullptr) << what;
    EXPECT_EQ(copy->seen.find("frees the batch's memory"), std::string::npos) << copy->seen;
    const Finding* python = FindRule(findings, "python-work");
    ASSERT_NE(python, nullptr) << what;
    EXPECT_GT(python->gain_ns, least_ms * kMs) << what;
  };
  expect_python({.pictures = 4}, 1.5, "the line reads one picture after the other");
  expect_python({.workers = false}, 1.5, "no worker shares memory");
}

TEST(PythonRules, FreeingTakesNoLongerThanItsBytes) {
  // At 2 GB/s or more.
  const auto findings = FindingsOfTrainer({.bytes = 5'000'000});
  const Finding* copy = FindRule(findings, "pageable-copy");
  ASSERT_NE(copy, nullptr);
  EXPECT_NEAR(copy->gain_ns, 0.85 * (1 + 2.5) * kMs, 0.1 * kMs);
}

TEST(PythonRules, FreeingIsToldBesideLargerCopiesToTheHost) {
  const auto findings = FindingsOfTrainer({.to_host_bytes = 80 << 20});
  const Finding* copy = FindRule(findings, "pageable-copy");
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->title, "Tensors are copied to pageable memory of the CPU");
  EXPECT_GT(copy->gain_ns, 0.85 * 4 * kMs);
  EXPECT_NE(copy->seen.find("Behind those to the GPU the loop frees"), std::string::npos)
      << copy->seen;
  EXPECT_NE(copy->action.find("Batches: DataLoader(..., pin_memory=True)"), std::string::npos)
      << copy->action;
  EXPECT_EQ(FindRule(findings, "python-work"), nullptr);
}

TEST(AdviceText, TimesHaveTheUnitsOfTheSummary) {
  EXPECT_EQ(TimeOf(647'000), "647 µs");
  EXPECT_EQ(TimeOf(999'700), "1.00 ms");
  EXPECT_EQ(TimeOf(12'340'000), "12.3 ms");
  EXPECT_EQ(TimeOf(1.534e9), "1.53 s") << "and not 1534 ms";
}

TEST(PythonRules, CopiesOfWholeObjectsAreNamedByWhoMakesThem) {
  const auto findings = FindingsOfCopies("/usr/lib/python3.11/copy.py", "deepcopy");
  const Finding* found = FindRule(findings, "deep-copies");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "`update` (train.py:79): copy.deepcopy takes 50 % of a step");
  EXPECT_NEAR(found->gain_ns, 0.8 * 5 * kMs, 0.1 * kMs);
  EXPECT_EQ(FindRule(FindingsOfCopies("/usr/lib/python3.11/copy.py", "copy"), "deep-copies"),
            nullptr);
  EXPECT_EQ(FindRule(FindingsOfCopies("/home/u/copy.py", "deepcopy"), "deep-copies"), nullptr);
}

// Steps of 10 ms that get a batch in 6 ms: 4 ms of that in `inner` of `file`. `every` steps make an
// iterator of their loader. Before it another loader, of the kind `brief`, gives a batch at once.
std::vector<Finding> FindingsOfIterators(int every, const char* file, const char* inner,
                                         const char* kind = "_SingleProcess",
                                         const char* brief = nullptr) {
  StoreBuilder build;
  const PythonStackId stack = CalledBy("train", 91, file, inner, build);
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  for (int64_t i = 0, t = 0; i < 30; ++i, t += 10 * kMs) {
    build.Range(thread, "step", t, t + 10 * kMs - 1000);
    if (i % every == 0) {
      build.Phase(thread, Phase::kDataLoaderInit, "DataLoader.__iter__", t, t + 100'000);
    }
    const auto next = [&](const char* of, int64_t begin, int64_t end) {
      build.Phase(thread, Phase::kDataLoaderNext,
                  "enumerate(DataLoader)#" + std::string(of) + "DataLoaderIter.__next__", begin,
                  end);
    };
    if (brief != nullptr) next(brief, t + 100'000, t + 200'000);
    next(kind, t + 200'000, t + 6 * kMs);
    build.Operator(thread, "aten::mm", t + 6 * kMs, t + 10 * kMs - 2000);
    build.store().python_samples.Append({.start_ns = t + kMs,
                                         .end_ns = t + 5 * kMs,
                                         .thread = thread,
                                         .python_stack = stack,
                                         .samples = 1});
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(DataRules, AnIteratorOfEveryStepIsToBeKept) {
  constexpr char kSamplers[] = "/usr/lib/python3/dist-packages/torch/utils/data/sampler.py";
  const auto findings = FindingsOfIterators(1, kSamplers, "RandomSampler.__iter__");
  const Finding* found = FindRule(findings, "loader-iterators");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found, findings.data());
  EXPECT_NE(found->title.find("`train` (train.py:91) makes a new iterator"), std::string::npos)
      << found->title;
  EXPECT_NEAR(found->gain_ns, 0.95 * 4 * kMs, 0.1 * kMs);
  // The rest of the wait is the batch itself.
  const Finding* wait = FindRule(findings, "dataloader-wait");
  ASSERT_NE(wait, nullptr);
  EXPECT_NEAR(wait->gain_ns, (6 - 4 - 0.5) * 0.85 * kMs, 0.1 * kMs);
  // The first batch of an epoch, or what makes a sample.
  for (const auto& others : {FindingsOfIterators(10, kSamplers, "RandomSampler.__iter__"),
                             FindingsOfIterators(1, "/home/u/data.py", "Windows.__getitem__")}) {
    EXPECT_EQ(FindRule(others, "loader-iterators"), nullptr);
    ASSERT_NE(FindRule(others, "dataloader-wait"), nullptr);
  }
}

// Its workers have made nothing ahead: what the loop waits for them is the iterator's.
TEST(DataRules, AnIteratorWithWorkersOfEveryStepIsToBeKept) {
  constexpr char kLoader[] = "/usr/lib/python3/dist-packages/torch/utils/data/dataloader.py";
  constexpr char kGet[] = "_MultiProcessingDataLoaderIter._get_data";
  const auto findings = FindingsOfIterators(1, kLoader, kGet, "_MultiProcessing");
  const Finding* found = FindRule(findings, "loader-iterators");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found, findings.data());
  EXPECT_EQ(found->why.find("A new iterator starts its workers anew"), 0u) << found->why;
  EXPECT_NEAR(found->gain_ns, 0.95 * 4 * kMs, 0.1 * kMs);
  EXPECT_EQ(
      FindRule(FindingsOfIterators(10, kLoader, kGet, "_MultiProcessing"), "loader-iterators"),
      nullptr);
}

TEST(DataRules, OfSeveralLoadersTheOneThatTakesLongestIsMeant) {
  constexpr char kLoader[] = "/usr/lib/python3/dist-packages/torch/utils/data/dataloader.py";
  const auto findings = FindingsOfIterators(1, kLoader, "_MultiProcessingDataLoaderIter._get_data",
                                            "_MultiProcessing", "_SingleProcess");
  EXPECT_NE(FindRule(findings, "loader-iterators"), nullptr);
}

// Tokens made in collate_fn are the same in every epoch.
TEST(DataRules, WhatASampledLoaderMakesIsMadeOnce) {
  StoreBuilder build;
  build.store().python_frames.Append({.file = build.Text("/home/u/data.py"),
                                      .function = build.Text("collate"),
                                      .first_line = 40,
                                      .line = 42});
  build.store().python_stacks.Append({.frame = PythonFrameId::At(0)});
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t t = i * 10 * kMs;
    build.Range(thread, "step", t, t + 10 * kMs - 1000);
    build.Phase(thread, Phase::kDataLoaderNext,
                "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", t, t + 6 * kMs);
    build.Operator(thread, "aten::mm", t + 7 * kMs, t + 10 * kMs - 2000);
    build.store().python_samples.Append({.start_ns = t,
                                         .end_ns = t + 5 * kMs,
                                         .thread = thread,
                                         .python_stack = PythonStackId::At(0),
                                         .samples = 1});
  }
  const Store store = build.Build();
  const auto findings = BuildOverview(store).findings;
  const Finding* found = FindRule(findings, "dataloader-wait");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->action.find("Or make `collate` (data.py:42) faster"), std::string::npos)
      << found->action;
}

// Each access to an array of an open .npz file reads all of it.
TEST(DataRules, ArraysOfAnOpenNpzFileAreReadOnce) {
  const auto findings_of = [](std::string_view called, std::string_view rarely) {
    StoreBuilder build;
    Store& store = build.store();
    const auto frame = [&](std::string_view file, std::string_view function) {
      store.python_frames.Append({.file = build.Text(file),
                                  .function = build.Text(function),
                                  .first_line = 40,
                                  .line = 42});
    };
    frame("/home/u/data.py", "Shards.__getitem__");
    frame("/venv/lib/python3.12/site-packages/numpy/lib/_npyio_impl.py", called);
    frame("/usr/lib/python3.12/zipfile/__init__.py", "ZipExtFile._read1");
    for (uint32_t i = 0; i < 3; ++i) {
      store.python_stacks.Append(
          {.frame = PythonFrameId::At(i),
           .parent = i == 0 ? PythonStackId::None() : PythonStackId::At(i - 1)});
    }
    frame("/venv/lib/python3.12/site-packages/numpy/lib/_npyio_impl.py", rarely);
    store.python_stacks.Append({.frame = PythonFrameId::At(3), .parent = PythonStackId::At(0)});
    const ThreadId thread = build.Thread(build.Process(7, "train.py"));
    build.Property("machine.cores", "2");
    build.Property("torch.threads", "2");
    for (int64_t i = 0; i < 20; ++i) {
      const int64_t t = i * 10 * kMs;
      build.Range(thread, "step", t, t + 10 * kMs - 1000);
      build.Phase(thread, Phase::kDataLoaderNext,
                  "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", t, t + 6 * kMs);
      build.Operator(thread, "aten::mm", t + 7 * kMs, t + 10 * kMs - 2000);
      store.python_samples.Append({.start_ns = t,
                                   .end_ns = t + 150'000,
                                   .thread = thread,
                                   .python_stack = PythonStackId::At(3),
                                   .samples = 1});
      store.python_samples.Append({.start_ns = t + 150'000,
                                   .end_ns = t + 5 * kMs,
                                   .thread = thread,
                                   .python_stack = PythonStackId::At(2),
                                   .samples = 1});
    }
    const Store built = build.Build();
    return BuildOverview(built).findings;
  };
  const auto findings = findings_of("NpzFile.__getitem__", "NpzFile.__getitem__");
  const Finding* found = FindRule(findings, "dataloader-wait");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.95 * 6 * kMs, 0.1 * kMs);
  EXPECT_EQ(found->action.find("Read each array once"), 0u) << found->action;
  EXPECT_NE(found->patch.diff.find("dict(np.load(path))"), std::string::npos);
  // A file of its own for each sample: half of it, as no processor is free.
  for (const std::string_view called : {"load", "NpzFile.__getitem__"}) {
    const auto others = findings_of(called, "load");
    found = FindRule(others, "dataloader-wait");
    ASSERT_NE(found, nullptr);
    EXPECT_LT(found->gain_ns, 0.5 * 6 * kMs) << called;
    EXPECT_EQ(found->action.find("Read each array once"), std::string::npos) << called;
    EXPECT_NE(found->action.find("Unpack once"), std::string::npos) << found->action;
  }
}

}  // namespace
}  // namespace batchlight
