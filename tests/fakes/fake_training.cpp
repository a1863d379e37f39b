// A "CUDA program" on the fake: launches from several threads, at a pace or as fast as it can.
// Prints what it did as key=value words, for tests to compare with the recording.
//
//   fake_training [threads=N] [launches=N] [per_second=N] [names=N] [every_kind=1] [captures=N]
//                 [name_bytes=N] [graphs=N] [waits=1] [streams=N] [fails=1] [stops_beside=1]
//                 [end=return|exit|quick_exit|kill|abort|reset|fork]
//
// end=kill: once nine tenths of the records have been read, or after a minute.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "fakes/fake_cuda.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Arguments {
  long threads = 1, launches = 1000, per_second = 0, names = 10, every_kind = 0, captures = 0;
  long copies = 0, weights = 0, name_bytes = 0, graphs = 0, waits = 0, streams = 0, fails = 0,
       stops_beside = 0;
  std::string end = "return";
};

Arguments Parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    const long number = std::strtol(value.c_str(), nullptr, 10);
    if (key == "threads")
      arguments.threads = number;
    else if (key == "launches")
      arguments.launches = number;
    else if (key == "per_second")
      arguments.per_second = number;
    else if (key == "names")
      arguments.names = number;
    else if (key == "every_kind")
      arguments.every_kind = number;
    else if (key == "captures")
      arguments.captures = number;
    else if (key == "name_bytes")
      arguments.name_bytes = number;
    else if (key == "graphs")
      arguments.graphs = number;
    else if (key == "waits")
      arguments.waits = number;
    else if (key == "streams")
      arguments.streams = number;
    else if (key == "fails")
      arguments.fails = number;
    else if (key == "copies")
      arguments.copies = number;
    else if (key == "weights")
      arguments.weights = number;
    else if (key == "stops_beside")
      arguments.stops_beside = number;
    else if (key == "end")
      arguments.end = value;
    else
      std::fprintf(stderr, "fake_training: what is %s?\n", word.c_str());
  }
  return arguments;
}

std::vector<std::string> Names(const Arguments& arguments) {
  std::vector<std::string> names;
  for (long i = 0; i < arguments.names; ++i) {
    std::string base = "kernel" + std::to_string(i);
    base.append(static_cast<size_t>(std::max(arguments.name_bytes, 0L)), 'x');
    names.push_back("_ZN4fake" + std::to_string(base.size()) + base + "IfEEvPT_i");
  }
  return names;
}

void Launch(const Arguments& arguments, const std::vector<std::string>& names, long thread) {
  // At most at this pace: what a busy machine delays is not made up for by a burst.
  auto next = Clock::now();
  for (long i = 0; i < arguments.launches; ++i) {
    fake_launch launch{};
    launch.name = names[static_cast<size_t>(i % arguments.names)].c_str();
    launch.grid[0] = static_cast<int32_t>(1 + i % 7);
    launch.grid[1] = launch.grid[2] = launch.block[1] = launch.block[2] = 1;
    launch.block[0] = 128;
    launch.stream = static_cast<uint32_t>(7 + thread);
    launch.duration_ns = static_cast<uint32_t>(1000 + i % 1000);
    launch.through_driver = i % 10 == 9;
    fake_cuda_launch(&launch);
    if (arguments.per_second > 0 && i % 100 == 99) {
      next = std::max(Clock::now(),
                      next + std::chrono::nanoseconds(100'000'000'000 / arguments.per_second));
      std::this_thread::sleep_until(next);
    }
  }
}

void Replay(long graphs) {
  for (long i = 0; i < graphs; ++i) fake_cuda_graph_launch(static_cast<uint32_t>(i), 7, 60000);
}

void Waits() {
  fake_cuda_stream_synchronize(9, 5000);
  fake_cuda_stream_wait_event(0, 77, 0);
  fake_cuda_driver_stream_wait_event(0, 78);
  fake_cuda_event_synchronize(79);
  fake_cuda_device_synchronize();
  constexpr uint32_t kInvalidHandle = 400;
  fake_cuda_stream_wait_event(10, 80, kInvalidHandle);
  fake_cuda_begin_capture(11);  // a second stream joins the capture of the first
  fake_cuda_stream_wait_event(11, 81, 0);
  std::printf("capture=%u ", fake_cuda_end_capture());
  fake_cuda_stream_synchronize(1, 0);
  fake_cuda_stream_synchronize(2, 0);
}

// One launch on each of many streams.
void Streams(long count) {
  for (long i = 0; i < count; ++i) {
    fake_launch launch{};
    launch.name = "on_a_stream";
    launch.stream = static_cast<uint32_t>(100 + i);
    launch.duration_ns = 1000;
    fake_cuda_launch(&launch);
  }
}

// Each once.
void Weights(long count) {
  constexpr size_t kBytes = 1 << 20, kApart = 64;
  std::vector<char> weights(kBytes + static_cast<size_t>(count) * kApart);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<char>(i * i >> 4);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    fake_cuda_copy_from(&weights[i * kApart], kBytes);
  }
}

// A graph that never changes, and batches that do.
void Copies(long count) {
  std::vector<uint64_t> graph(1 << 18), batch(1 << 17);
  for (size_t i = 0; i < graph.size(); ++i) graph[i] = i;
  for (long step = 0; step < count; ++step) {
    for (size_t i = 0; i < batch.size(); ++i) batch[i] = i + static_cast<size_t>(step);
    fake_cuda_copy_from(graph.data(), graph.size() * sizeof graph[0]);
    fake_cuda_copy_from(batch.data(), batch.size() * sizeof batch[0]);
  }
  // An address that is none, as of a copy that the driver refuses.
  if (count != 0) fake_cuda_copy_from(reinterpret_cast<void*>(4096), 1 << 20);
}

void EveryKind() {
  fake_cuda_malloc(0x7000, 1 << 20);
  fake_cuda_memcpy_async(1, 4096, 7, 1000);
  fake_cuda_memcpy_async(2, 8192, 7, 2000);
  fake_cuda_memcpy_async(10, 1 << 20, 7, 3000);
  fake_cuda_memset_async(0, 512, 7, 100);
  fake_cuda_event_record(3, 7);
  fake_cuda_graph_node(100, 200);
  fake_cuda_graph_launch(5, 7, 60000);
  fake_launch node{};
  node.name = "in_graph";
  node.graph_node = 200;
  node.duration_ns = 5'000'000'000u % 4'000'000'000u;
  fake_cuda_launch(&node);
  fake_cuda_stream_synchronize(7, 5000);
  fake_cuda_get_device();
  fake_cuda_cpu_page_fault(0xabc000);
  fake_cuda_free(0x7000, 1 << 20);
}

// The program ends while another thread is in cudaProfilerStop.
void StopBeside() {
  std::thread(fake_cuda_profiler_stop).detach();
  usleep(100'000);
  Streams(50);
}

long PeakMemoryKb() {
  std::FILE* status = std::fopen("/proc/self/status", "r");
  long kb = 0;
  char line[256];
  while (status != nullptr && std::fgets(line, sizeof line, status) != nullptr) {
    if (std::sscanf(line, "VmHWM: %ld", &kb) == 1) break;
  }
  if (status != nullptr) std::fclose(status);
  return kb;
}

void WaitUntilRead(uint64_t records) {
  for (int i = 0; i < 6000 && fake_cupti_records_read() < records; ++i) usleep(10'000);
}

void End(const std::string& how) {
  if (how == "exit") std::exit(3);
  if (how == "quick_exit") _exit(4);
  if (how == "kill") std::raise(SIGKILL);
  if (how == "abort") std::abort();
  if (how == "reset") {  // and goes on with a new context
    fake_cuda_device_reset();
    fake_cuda_new_context();
    fake_launch launch{};
    launch.name = "after_reset";
    launch.duration_ns = 1000;
    fake_cuda_launch(&launch);
  }
  if (how == "fork") {
    const pid_t child = fork();
    if (child == 0) {
      fake_launch launch{};
      launch.name = "in_child";
      fake_cuda_launch(&launch);
      std::exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::printf("child=%d\n", status);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = Parse(argc, argv);
  // As long as CUPTI's: they are read when the process ends.
  static const auto& names = *new std::vector<std::string>(Names(arguments));
  fake_cuda_init();
  const long rounds = arguments.captures > 0 ? arguments.captures : 1;
  const auto start = Clock::now();
  for (long round = 0; round < rounds; ++round) {
    if (arguments.captures > 0) {
      Launch(arguments, names, 90);  // outside
      Replay(arguments.graphs);
      fake_cuda_profiler_start();
    }
    std::vector<std::thread> threads;
    for (long i = 0; i < arguments.threads; ++i) {
      threads.emplace_back([&, i] { Launch(arguments, names, i); });
    }
    for (std::thread& thread : threads) thread.join();
    Replay(arguments.graphs);
    if (arguments.every_kind != 0) EveryKind();
    if (arguments.waits != 0) Waits();
    if (arguments.fails != 0) fake_cuda_out_of_memory();
    Streams(arguments.streams);
    Weights(arguments.weights);
    Copies(arguments.copies);
    if (arguments.captures > 0) fake_cuda_profiler_stop();
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::printf("seconds=%.3f peak_kb=%ld dropped=%llu buffers=%llu dirty=%llu\n", seconds,
              PeakMemoryKb(), static_cast<unsigned long long>(fake_cupti_records_dropped()),
              static_cast<unsigned long long>(fake_cupti_buffers_handed_out()),
              static_cast<unsigned long long>(fake_cupti_dirty_buffers()));
  std::fflush(stdout);
  if (arguments.stops_beside != 0) StopBeside();
  if (arguments.end == "kill") {  // a launch is two records: the call and the kernel
    WaitUntilRead(static_cast<uint64_t>(arguments.launches * arguments.threads * 2 * 9 / 10));
  }
  End(arguments.end);
  return 0;
}
