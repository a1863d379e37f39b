// Host memory while CUDA is recorded for long: launches on the stand-in libcupti, then the chunks
// are read back and every record counted.
//
//   cuda_memory_bench [launches] [launches a second, 0 = as fast as it can] [folder]
//
// 180 million launches, the default, are 30 minutes at 100,000 a second; they need 9 GB in
// `folder`.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <span>
#include <string>

#include "format/decode.h"
#include "inject/testing/live_session.h"

namespace {

using namespace batchlight;

struct Ran {
  double seconds = 0;
  long peak_kb = 0;  // of the program
  int status = 0;
};

Ran Run(const inject::LiveSession& session, const char* program, long launches, long per_second) {
  const std::string words = "launches=" + std::to_string(launches / 2);
  const std::string pace = "per_second=" + std::to_string(per_second / 2);
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    session.SetEnvironment();
    setenv("LD_PRELOAD", BATCHLIGHT_INJECT_LIBRARY, 1);
    setenv("CUDA_INJECTION64_PATH", BATCHLIGHT_INJECT_LIBRARY, 1);
    execl(program, program, "threads=2", words.c_str(), pace.c_str(), nullptr);
    _exit(127);
  }
  Ran ran;
  rusage usage{};
  wait4(child, &ran.status, 0, &usage);
  ran.peak_kb = usage.ru_maxrss;
  ran.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return ran;
}

struct Counted {
  uint64_t kernels = 0, calls = 0, bytes = 0, damaged = 0;
  std::map<uint32_t, uint64_t> counters;
};

void CountChunk(const format::ChunkView& view, Counted& counted) {
  format::RecordReader reader(view);
  for (format::RecordView record; reader.Next(record);) {
    if (record.kind == format::RecordKind::kKernel) ++counted.kernels;
    if (record.kind == format::RecordKind::kCudaCall) ++counted.calls;
    if (record.kind == format::RecordKind::kCounter) {
      const auto counter = record.As<format::CounterRecord>();
      auto& highest = counted.counters[counter.counter];
      if (counter.value > highest) highest = counter.value;
    }
  }
  if (reader.damaged()) ++counted.damaged;
}

bool CountFile(const std::string& path, Counted& counted) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info {};
  if (fd < 0 || ::fstat(fd, &info) != 0 || info.st_size == 0) return false;
  const auto size = static_cast<size_t>(info.st_size);
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  ::close(fd);
  if (memory == MAP_FAILED) return false;
  const std::span<const uint8_t> bytes(static_cast<const uint8_t*>(memory), size);
  for (size_t at = 0; at < size;) {
    format::ChunkView view;
    if (!format::ParseChunk(bytes.subspan(at), &view)) {
      at += format::kPageBytes;
      continue;
    }
    CountChunk(view, counted);
    counted.bytes += view.header.chunk_bytes;
    ::madvise(const_cast<uint8_t*>(bytes.data() + at), view.header.chunk_bytes, MADV_DONTNEED);
    at += view.header.chunk_bytes;
  }
  ::munmap(memory, size);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const long launches = argc > 1 ? std::atol(argv[1]) : 180'000'000;
  const long per_second = argc > 2 ? std::atol(argv[2]) : 0;
  const char* folder = argc > 3 ? argv[3] : nullptr;
  Ran plain;
  {
    inject::LiveSession session(folder);
    session.page().trace = 0;
    plain = Run(session, FAKE_TRAINING, 2, 0);
  }
  inject::LiveSession session(folder);
  session.page().trace = format::kTraceCuda;
  const Ran ran = Run(session, FAKE_TRAINING, launches, per_second);
  if (ran.status != 0) {
    std::fprintf(stderr, "the program ended with status %d\n", ran.status);
    return 1;
  }
  Counted counted;
  for (const std::string& file : session.Files()) CountFile(file, counted);
  std::printf("%ld launches in %.0f s (%.0f a second): %llu kernels and %llu calls recorded\n",
              launches, ran.seconds, static_cast<double>(launches) / ran.seconds,
              static_cast<unsigned long long>(counted.kernels),
              static_cast<unsigned long long>(counted.calls));
  std::printf("peak %.1f MiB, without recording %.1f MiB; %.2f GB of chunks, %llu damaged\n",
              static_cast<double>(ran.peak_kb) / 1024, static_cast<double>(plain.peak_kb) / 1024,
              static_cast<double>(counted.bytes) / 1e9,
              static_cast<unsigned long long>(counted.damaged));
  for (const auto& [counter, value] : counted.counters) {
    std::printf("counter %u: %llu\n", counter, static_cast<unsigned long long>(value));
  }
  const auto wanted = static_cast<uint64_t>(launches);
  return counted.kernels == wanted && counted.calls == wanted && counted.damaged == 0 ? 0 : 1;
}
