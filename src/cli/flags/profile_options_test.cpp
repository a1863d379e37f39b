#include "cli/flags/profile_options.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "base/file.h"

namespace batchlight::cli {
namespace {

using capture::RangeEnd;

Result<ProfileOptions> Make(std::vector<std::string> words) {
  words.push_back("python");
  ASSIGN_OR_RETURN(const ParsedFlags flags, ParsedFlags::Parse(Verb::kProfile, words));
  return MakeProfileOptions(flags);
}

capture::SessionOptions Session(std::vector<std::string> words) {
  auto options = Make(std::move(words));
  EXPECT_TRUE(options.ok()) << options.status().message();
  return options.ok() ? options->session : capture::SessionOptions();
}

std::string ErrorOf(std::vector<std::string> words) {
  const auto options = Make(std::move(words));
  EXPECT_FALSE(options.ok());
  EXPECT_EQ(options.status().kind(), ErrorKind::kUsage);
  return options.status().message();
}

TEST(MakeProfileOptions, DefaultsTraceModulesAndOperators) {
  constexpr uint32_t kPython = format::kTracePython | format::kTracePythonSamples;
  EXPECT_EQ(Session({}).trace, format::kTraceNvtx | kPython | format::kTraceCuda |
                                   format::kTraceModules | format::kTraceOperators);
  EXPECT_EQ(Session({"-t", "none"}).trace, 0u);
  EXPECT_EQ(Session({"-t", "none", "--python-lines=gpu"}).trace,
            format::kTraceLines | format::kTraceOperators | kPython);
  EXPECT_EQ(Session({"-t", "none", "--python-backtrace=cuda"}).trace,
            format::kTraceCallStacks | format::kTraceCuda | kPython);
  EXPECT_EQ(Session({"-t", "nvtx", "--pytorch=none"}).trace, format::kTraceNvtx | kPython);
  EXPECT_EQ(Session({"--pytorch", "functions-trace,autograd-shapes-nvtx"}).trace &
                (format::kTraceModules | format::kTraceOperators | format::kTraceShapes),
            format::kTraceModules | format::kTraceOperators | format::kTraceShapes);
}

TEST(MakeProfileOptions, PythonIsSampledWhereItIsTraced) {
  EXPECT_EQ(Session({}).python_period_ns, 10'000'000);
  EXPECT_EQ(Session({"--python-sampling-frequency=1000"}).python_period_ns, 1'000'000);
  EXPECT_EQ(Session({"-t", "none"}).python_period_ns, 0);
  EXPECT_EQ(Session({"-t", "none", "--python-sampling=true"}).trace,
            format::kTracePython | format::kTracePythonSamples);
  EXPECT_EQ(Session({"--python-sampling=false"}).trace & format::kTracePythonSamples, 0u);
  EXPECT_EQ(Session({"--python-sampling=false"}).python_period_ns, 0);
  EXPECT_EQ(Make({"-t", "python-gil", "--python-sampling=false"})->without_effect,
            std::vector<std::string>{
                "python-gil in --trace with --python-sampling=false (samples tell who waits)"});
  EXPECT_TRUE(Make({"-t", "python-gil"})->without_effect.empty());
  EXPECT_EQ(ErrorOf({"--python-sampling-frequency=2001"}),
            "--python-sampling-frequency: 2001 is no number from 1 to 2000");
}

TEST(MakeProfileOptions, MemoryIsRecordedWhereItIsAskedFor) {
  constexpr uint32_t kBits = format::kTraceMemory | format::kTracePython;
  EXPECT_EQ(Session({}).trace & format::kTraceMemory, 0u);
  const auto sampled = Session({"-t", "none", "--python-memory=sampled"});
  EXPECT_EQ(sampled.trace & kBits, kBits);
  EXPECT_NE(sampled.extra.find("memory.interval=131072\n"), std::string::npos);
  EXPECT_TRUE(sampled.levels.empty());
  const auto exact = Session({"-t", "none", "--python-memory=exact"});
  EXPECT_NE(exact.extra.find("memory.interval=0\n"), std::string::npos);
  EXPECT_EQ(exact.levels, std::vector<std::string>{"PYTHONMALLOC=malloc"});
}

TEST(MakeProfileOptions, OperatorsAreRecordedDownToALevel) {
  EXPECT_EQ(Session({}).extra.find("operators.levels"), std::string::npos);
  const capture::SessionOptions two = Session({"--pytorch-depth=2"});
  EXPECT_NE(two.extra.find("operators.levels=2\n"), std::string::npos);
  EXPECT_EQ(two.facts.back(),
            (std::pair<std::string, std::string>("session.operator_levels", "2")));
  EXPECT_EQ(Make({"--pytorch-depth=2", "--pytorch=functions-trace"})->without_effect,
            std::vector<std::string>{"--pytorch-depth=2 without operators in --pytorch"});
  ErrorOf({"--pytorch-depth=deep"});
}

// Where steps end is told by phases alone.
TEST(MakeProfileOptions, StepsAreFollowedWhateverIsRecordedOfPyTorch) {
  const auto follows = [](std::vector<std::string> words) {
    constexpr uint32_t kWanted = format::kTracePython | format::kTracePhases;
    return (Session(std::move(words)).trace & kWanted) == kWanted;
  };
  for (const char* pytorch : {"--pytorch=none", "--pytorch=autograd-nvtx"}) {
    EXPECT_FALSE(follows({pytorch}));
    for (const char* flag :
         {"--steps=10:20", "--every=50", "--control-steps=16", "--overhead=3%"}) {
      EXPECT_TRUE(follows({pytorch, flag})) << flag;
    }
    EXPECT_FALSE(follows({pytorch, "--steps=10:20", "--step-range=step"})) << "ranges tell";
    EXPECT_FALSE(follows({pytorch, "--control-steps=none"}));
  }
}

TEST(MakeProfileOptions, SomeStepsGoWithoutDetail) {
  const auto detail_of = [](std::vector<std::string> words) {
    const std::string extra = Session(std::move(words)).extra;
    const size_t at = extra.find("detail.");
    return at == std::string::npos ? "" : extra.substr(at);
  };
  EXPECT_EQ(detail_of({}), "");
  EXPECT_EQ(detail_of({"--control-steps=8"}), "detail.every=8\n");
  EXPECT_EQ(detail_of({"--control-steps=none"}), "");
  EXPECT_EQ(detail_of({"--overhead=3%"}), "detail.budget=30000\n");
  EXPECT_EQ(detail_of({"--overhead", "0.5", "--control-steps=16"}),
            "detail.every=16\ndetail.budget=5000\n");
  EXPECT_EQ(Session({"--overhead=3%"}).facts.front().first, "session.overhead_budget");
  // Nothing could be left out, or the user chose what is.
  EXPECT_EQ(detail_of({"-t", "nvtx", "--pytorch=none"}), "");
  EXPECT_EQ(detail_of({"--every=10"}), "");
  EXPECT_EQ(detail_of({"--python-trace=functions"}), "");
  EXPECT_NE(ErrorOf({"--overhead=3%", "--every=10"}).find("--overhead does not go with --steps"),
            std::string::npos);
  EXPECT_NE(ErrorOf({"--control-steps=4", "--lines=train:main"}).find("exact"), std::string::npos);
  for (const char* wrong :
       {"--control-steps=1", "--overhead=much", "--overhead=0%", "--overhead=%"}) {
    ErrorOf({wrong});
  }
}

TEST(MakeProfileOptions, StacksOfCudaCallsByKind) {
  const auto extra = [](const std::vector<std::string>& words) {
    const auto options = Make(words);
    EXPECT_TRUE(options.ok()) << options.status().message();
    return options.ok() ? options.value().session.extra : "";
  };
  const auto has = [&](const std::vector<std::string>& words, const std::string& line) {
    return extra(words).find(line + "\n") != std::string::npos;
  };
  EXPECT_TRUE(has({"--cudabacktrace=all", "--cudabacktrace-threshold=700"},
                  "cuda.backtrace=kernel:700,memory:700,sync:700,other:700"));
  EXPECT_TRUE(has({"--cudabacktrace=kernel:500,sync"}, "cuda.backtrace=kernel:500,sync:1000"));
  EXPECT_EQ(extra({"--cudabacktrace=none"}).find("cuda.backtrace"), std::string::npos);
  EXPECT_FALSE(Make({"--cudabacktrace=kernels"}).ok());
  EXPECT_FALSE(Make({"--cudabacktrace=kernel:soon"}).ok());
  const auto without = Make({"-t", "nvtx", "--cudabacktrace=all"});
  ASSERT_TRUE(without.ok());
  EXPECT_EQ(without.value().without_effect.back(), "--cudabacktrace=all without cuda in --trace");
}

TEST(MakeProfileOptions, StacksOfOsCallsAreOnWithThem) {
  const auto options = Make({"-t", "osrt", "--osrt-backtrace-threshold=5000"});
  ASSERT_TRUE(options.ok());
  EXPECT_NE(
      options.value().session.extra.find("osrt.backtrace_ns=5000\nosrt.backtrace_frames=24\n"),
      std::string::npos);
  EXPECT_TRUE(options.value().session.names_program_stacks);
  const auto off = Make({"-t", "osrt", "--osrt-backtrace-depth=0"});
  ASSERT_TRUE(off.ok());
  EXPECT_FALSE(off.value().session.names_program_stacks);
}

TEST(MakeProfileOptions, OneLineForAllThatHasNoEffect) {
  const auto options = Make({"-t", "cuda,nvtx,osrt,cuDNN,openmp,MPI", "--sample=cpu", "-s", "none",
                             "--nic-metrics=hf", "--sampling-period=500000", "--osrt-threshold=500",
                             "--cudabacktrace=none"});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(WithoutEffectNotices(options.value().without_effect),
            std::vector<std::string>{
                "not traced yet, so without effect: --nic-metrics=hf, "
                "--trace=openmp,MPI, --sampling-period=500000 without --sample; all else is "
                "recorded"});
  EXPECT_TRUE(WithoutEffectNotices({}).empty());
  EXPECT_NE(ErrorOf({"-t", "cuda,nvxt"}).find("nvtx"), std::string::npos);
}

TEST(MakeProfileOptions, MetricsOfGpus) {
  const auto options = Make({"--gpu-metrics-device=0,1", "--gpu-metrics-frequency=10k"});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->session.gpu_sampling.devices, "0,1");
  EXPECT_EQ(options->session.gpu_sampling.interval_ns, 100'000u);
  EXPECT_EQ(options->gpu_metric_sets, std::vector<std::string>{"timeline"});
  EXPECT_EQ(Make({}).value().session.gpu_sampling.devices, "");
  for (const char* rate : {"9", "20001", "21k", "1M", "fast", "k"}) {
    EXPECT_NE(ErrorOf({"--gpu-metrics-devices=all",
                       ("--gpu-metrics-frequency=" + std::string(rate)).c_str()})
                  .find("is no rate from 10 to 20000"),
              std::string::npos)
        << rate;
  }
  EXPECT_NE(ErrorOf({"--gpu-metrics-devices=all", "--step-counters=true"}).find("choose one"),
            std::string::npos);
}

TEST(MakeProfileOptions, CountersOfSteps) {
  const auto sets_of = [](std::vector<std::string> words) {
    return Make(std::move(words)).value().counters.sets;
  };
  using Sets = std::vector<std::string>;
  EXPECT_EQ(sets_of({}), Sets());
  EXPECT_EQ(sets_of({"--step-counters"}), Sets{"essentials"});
  EXPECT_EQ(sets_of({"--step-counters=memory,warp", "--counter-metrics=a__b.sum"}),
            (Sets{"memory", "warp", "a__b.sum"}));
  EXPECT_NE(ErrorOf({"-t", "nvtx", "--step-counters"}).find("needs cuda"), std::string::npos);
}

TEST(MakeProfileOptions, SamplesAndSwitches) {
  const auto options =
      Make({"-s", "process-tree", "--cpuctxsw=process-tree", "--samples-per-backtrace=4"});
  ASSERT_TRUE(options.ok());
  EXPECT_TRUE(options.value().without_effect.empty());
  const capture::CpuOptions& cpu = options.value().session.cpu;
  EXPECT_TRUE(cpu.samples && cpu.switches && cpu.resolve_symbols);
  EXPECT_EQ(cpu.period_ns, 1'000'000'000 / 199);
  EXPECT_EQ(cpu.samples_per_stack, 4u);
  EXPECT_EQ(cpu.backtrace, capture::Backtrace::kUnwindTables);
  EXPECT_FALSE(Session({}).cpu.Any());
  EXPECT_EQ(Session({"-s", "cpu", "--sampling-period=1000000"}).cpu.period_ns, 1'000'000);
  EXPECT_EQ(Session({"-s", "cpu", "-b", "fp"}).cpu.backtrace, capture::Backtrace::kFramePointers);
  const auto refused = Make({"-s", "system-wide", "-b", "lbr"});
  ASSERT_TRUE(refused.ok());
  EXPECT_EQ(refused.value().without_effect.size(), 2u);
  for (const char* wrong : {"--sampling-frequency=0", "--sampling-frequency=20000",
                            "--sampling-period=1", "--samples-per-backtrace=33"}) {
    EXPECT_NE(ErrorOf({"-s", "cpu", wrong}).find("is no number from"), std::string::npos);
  }
}

TEST(MakeProfileOptions, LibrariesAndTheOsRuntime) {
  const auto options = Make({"-t", "osrt,cuBLAS,cudnn-verbose", "--osrt-threshold=500"});
  ASSERT_TRUE(options.ok());
  const capture::SessionOptions& session = options.value().session;
  EXPECT_TRUE(options.value().without_effect.empty());
  EXPECT_EQ(session.trace & (format::kTraceOs | format::kTraceLibraries | format::kTraceCuda),
            format::kTraceOs | format::kTraceLibraries | format::kTraceCuda);
  EXPECT_NE(session.extra.find("libraries=cublas,cudnn-verbose\n"), std::string::npos);
  EXPECT_NE(session.extra.find("osrt.threshold_ns=500\n"), std::string::npos);
  EXPECT_EQ(session.levels,
            (std::vector<std::string>{"CUBLAS_NVTX_LEVEL=2", "CUBLASLT_NVTX_LEVEL=2",
                                      "CUBLASXT_NVTX_LEVEL=2", "CUDNN_NVTX_LEVEL=2"}));
  EXPECT_NE(ErrorOf({"-t", "osrt", "--osrt-threshold=99999999999"}).find("--osrt-threshold"),
            std::string::npos);
  EXPECT_EQ(Make({"-t", "cuda"}).value().session.extra.find("osrt"), std::string::npos);
}

TEST(MakeProfileOptions, TheFileOfFunctionsIsLookedAtFirst) {
  const std::string path = testing::TempDir() + "functions_" + std::to_string(getpid()) + ".json";
  const auto given = [&](const char* text) {
    EXPECT_TRUE(WriteWholeFile(path, text).ok());
    return Make({"--python-functions-trace=" + path});
  };
  EXPECT_TRUE(given(R"([{"module": "a", "functions": ["f", {"function": "g"}]}])").ok());
  EXPECT_TRUE(given(R"({"module": "a", "functions": []})").ok());
  for (const char* wrong : {"[{\"module\": \"a\",}]", "[]]", "3", "[{\"functions\": []}]",
                            "[{\"module\": \"a\", \"functions\": \"f\"}]"}) {
    const auto options = given(wrong);
    ASSERT_FALSE(options.ok()) << wrong;
    EXPECT_EQ(options.status().kind(), ErrorKind::kUsage);
    EXPECT_NE(options.status().message().find(path), std::string::npos);
  }
  unlink(path.c_str());
}

TEST(MakeProfileOptions, CaptureRangeEnd) {
  const auto range_end = [](const char* text) {
    return Session({"-c", "cudaProfilerApi", std::string("--capture-range-end=") + text}).capture;
  };
  EXPECT_EQ(Session({"-c", "cudaProfilerApi"}).capture.range_end, RangeEnd::kStopShutdown);
  EXPECT_EQ(range_end("repeat").repeat, 0u);
  EXPECT_EQ(range_end("repeat:3:async").repeat, 3u);
  EXPECT_EQ(range_end("repeat-shutdown:2").range_end, RangeEnd::kRepeatShutdown);
  EXPECT_TRUE(range_end("repeat").Several());
  EXPECT_FALSE(range_end("stop").Several());
  for (const char* text : {"repeat:0", "repeat:x", "stop:2", "repeat-shutdown", "sometimes"}) {
    ErrorOf({"-c", "cudaProfilerApi", std::string("--capture-range-end=") + text});
  }
  EXPECT_EQ(Session({"--stop-on-range-end=true"}).capture.range_end, RangeEnd::kStop);
}

TEST(MakeProfileOptions, NvtxCapture) {
  const auto capture = Session({"-c", "nvtx", "-p", "a\\@b@my domain"}).capture;
  EXPECT_EQ(capture.range_message, "a@b");
  EXPECT_EQ(capture.range_domain, "my domain");
  EXPECT_EQ(Session({"-c", "nvtx", "-p", "step@*"}).capture.range_domain, "*");
  EXPECT_NE(ErrorOf({"-c", "nvtx"}).find("--nvtx-capture"), std::string::npos);
}

TEST(MakeProfileOptions, SizesAndSignals) {
  EXPECT_EQ(Session({"--buffer-budget=1G"}).budget_bytes, 1u << 30);
  EXPECT_EQ(Session({"--buffer-budget=2048k"}).budget_bytes, 2u << 20);
  EXPECT_EQ(Session({}).disk.keep_free_bytes, std::nullopt);
  EXPECT_EQ(Session({"--keep-free=10G"}).disk.keep_free_bytes, uint64_t{10} << 30);
  EXPECT_EQ(Session({"--keep-free=0"}).disk.keep_free_bytes, 0u);
  EXPECT_EQ(Session({"--keep-free=2.5%"}).disk.keep_free_share, 0.025);
  EXPECT_EQ(Session({"--max-size=1T"}).disk.max_bytes, uint64_t{1} << 40);
  for (const char* bad : {"--keep-free=101%", "--keep-free=x%", "--keep-free=1", "--max-size=0"}) {
    ErrorOf({bad});
  }
  for (const char* size : {"4G", "12", "M", "5T", "-1M"}) {
    ErrorOf({std::string("--buffer-budget=") + size});
  }
  EXPECT_EQ(Session({}).kill_signal, SIGTERM);
  EXPECT_EQ(Session({"--kill=none"}).kill_signal, 0);
  EXPECT_EQ(Session({"--kill", "2"}).kill_signal, SIGINT);
  ErrorOf({"--kill=999"});
}

TEST(MakeProfileOptions, OverheadIsMeasuredOverWholeRuns) {
  const auto rounds = [](std::vector<std::string> words) {
    const auto options = Make(std::move(words));
    EXPECT_TRUE(options.ok());
    return options.ok() ? options->overhead_rounds : 99;
  };
  EXPECT_EQ(rounds({}), 0u);
  EXPECT_EQ(rounds({"--measure-overhead"}), 1u);
  EXPECT_EQ(rounds({"--measure-overhead=3"}), 3u);
  EXPECT_EQ(
      rounds({"--measure-overhead=2", "-c", "nvtx", "-p", "step", "--capture-range-end=stop"}), 2u);
  EXPECT_NE(ErrorOf({"--measure-overhead", "-d", "3"}).find("--duration"), std::string::npos);
  ErrorOf({"--measure-overhead", "-c", "nvtx", "-p", "step"});
  ErrorOf({"--measure-overhead", "--session-new=a"});
  ErrorOf({"--measure-overhead=1000"});
}

TEST(MakeProfileOptions, StepWindows) {
  EXPECT_EQ(Session({"--steps=10:20"}).extra.substr(Session({"--control-steps=none"}).extra.size()),
            "window.first=10\nwindow.last=20\n");
  for (const char* steps : {"10", "10:", ":20", "0:3", "5:4", "10:20abc", "10:2x", "1:-1", " 1:2",
                            "1:99999999999999999999"}) {
    EXPECT_NE(ErrorOf({std::string("--steps=") + steps}).find("--steps"), std::string::npos);
  }
  EXPECT_EQ(Session({"--every=100", "--window=5"})
                .extra.substr(Session({"--control-steps=none"}).extra.size()),
            "window.every=100\nwindow.size=5\n");
  ErrorOf({"--every=3", "--window=4"});
  ErrorOf({"--every=99999999999999999999"});
  ErrorOf({"--measure-overhead=99999999999999999999"});
}

TEST(MakeProfileOptions, RanksAreListsOfStretches) {
  const auto ranks = ParseRanks("20,2,8-15");
  ASSERT_TRUE(ranks.ok());
  for (const int rank : {2, 8, 12, 15, 20}) EXPECT_TRUE(ranks->Has(rank)) << rank;
  for (const int rank : {-1, 0, 7, 16, 21}) EXPECT_FALSE(ranks->Has(rank)) << rank;
  EXPECT_EQ(ranks->Lowest(), 2u);
  EXPECT_TRUE(RankList().Has(7));
  EXPECT_EQ(RankList().Lowest(), 0u);
  for (const char* wrong : {",", "1,", "a", "3-", "3-1", "-1", "1-2-3", "1 ,2", "99999999999"}) {
    EXPECT_NE(ErrorOf({std::string("--ranks=") + wrong}).find("--ranks"), std::string::npos);
  }
}

TEST(MakeProfileOptions, AnotherUserMustExist) {
  EXPECT_NE(ErrorOf({"--run-as=no-such-user"}).find("no-such-user"), std::string::npos);
}

TEST(MakeProfileOptions, WhatExcludesEachOther) {
  ErrorOf({"--nvtx-domain-include=a", "--nvtx-domain-exclude=b"});
  ErrorOf({"-x", "false"});
  ErrorOf({"--start-later"});
  ErrorOf({"-e", "NOVALUE"});
  ErrorOf({"--session-new=a/b"});
  EXPECT_FALSE(Session({"-x", "false", "-d", "3"}).capture.stop_on_exit);
}

}  // namespace
}  // namespace batchlight::cli
