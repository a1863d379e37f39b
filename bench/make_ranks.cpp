// Writes recordings that hold nothing but what `profile` keeps of a rank, of a job that never ran:
//
//   make_ranks FOLDER RANKS [STEPS [CALLS_PER_STEP]]
//
// Each has 1,000 steps of 24 phases and 20 collectives a step, unless said otherwise. 64 ranks are
// simulated, one of them 3 % slower, and repeated. Then: time batchlight ranks FOLDER
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "analysis/partial/kept_own_times.h"
#include "analysis/partial/partial_bytes.h"
#include "analysis/testing/simulated_job.h"
#include "base/file.h"
#include "capture/recording/partial_block.h"
#include "format/layout.h"

namespace batchlight {
namespace {

constexpr size_t kSimulated = 64;
constexpr size_t kPhases = 24;
constexpr size_t kRanksOfHost = 8;
constexpr size_t kOwnTimes = 16;

// A sealed recording without a chunk.
std::string EmptyRecording() {
  format::FileHeader header{};
  std::copy(std::begin(format::kFileMagic), std::end(format::kFileMagic), header.magic);
  header.version = format::kFormatVersion;
  header.header_bytes = sizeof header;
  format::BlockHeader index{};
  index.magic = format::kBlockMagic;
  index.kind = format::BlockKind::kIndex;
  index.checksum = 0x2d06800538d394c2;  // XXH3-64 of nothing
  format::FileTrailer trailer{};
  trailer.index_offset = sizeof header;
  std::copy(std::begin(format::kFileMagic), std::end(format::kFileMagic), trailer.magic);
  std::string bytes(sizeof header + sizeof index + sizeof trailer, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, &index, sizeof index);
  std::memcpy(bytes.data() + sizeof header + sizeof index, &trailer, sizeof trailer);
  return bytes;
}

JobPart MakePart(size_t rank, size_t ranks, size_t steps, RankCalls calls) {
  JobPart part;
  part.identity.first_process = "process " + std::to_string(rank);
  part.identity.ranks = {static_cast<int32_t>(rank)};
  part.identity.world_size = static_cast<int32_t>(ranks);
  part.identity.communicators = {7};
  RankPartial& one = part.ranks.emplace_back();
  one.rank = static_cast<int32_t>(rank);
  one.pid = 1000;
  one.host = "node" + std::to_string(rank / kRanksOfHost);
  one.calls = std::move(calls);
  for (size_t step = 0; step < steps; ++step) {
    one.step_ns.push_back(100'000'000 + static_cast<int64_t>((rank * 31 + step * 7919) % 99'991));
    one.step_number.push_back(static_cast<int64_t>(step));
    one.steady.push_back(static_cast<uint32_t>(step));
  }
  for (size_t phase = 0; phase < kPhases; ++phase) {
    PhaseTimes& share = one.phases.emplace_back();
    share.kind = PhaseKind::kUserRange;
    share.name = "part " + std::to_string(phase);
    for (size_t step = 0; step < steps; ++step) {
      const size_t noise_us = (rank * 131 + step * 7919 + phase * 17) % 997;
      share.per_step_us.push_back(static_cast<uint32_t>(4000 + noise_us));
    }
  }
  for (int kernel = 0; kernel < 200; ++kernel) {
    one.kernels.push_back({"kernel_of_the_model_" + std::to_string(kernel), steps * 4,
                           static_cast<int64_t>(steps) * 400'000, 100'000 + kernel});
  }
  RankOwnTimes own;
  for (size_t name = 0; name < kOwnTimes; ++name) {
    OwnTimesOfName times{.name = "aten::operator_" + std::to_string(name), .calls = steps * 12};
    times.median_us = static_cast<uint32_t>(5000 - 300 * name);
    for (size_t step = name; step < steps; step += 10) {  // a tenth takes longer
      times.rows.push_back(static_cast<uint32_t>(step));
      times.us.push_back(static_cast<uint32_t>(5500 + (rank * 131 + step * 7919) % 997));
    }
    own.operators.push_back(times);
    own.modules.push_back(std::move(times));
  }
  one.own_times = PackOwnTimes(own);
  return part;
}

Status AddPart(const std::string& path, const std::string& part) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  Status added = capture::AddPartialBlock(fd, path, part);
  close(fd);
  return added;
}

int Run(const std::string& folder, size_t ranks, size_t steps, size_t calls_per_step) {
  const testing::SimulatedRanks simulated =
      testing::Simulate({.ranks = std::min(ranks, kSimulated),
                         .ranks_per_host = kRanksOfHost,
                         .steps = steps,
                         .calls_per_step = calls_per_step,
                         .slow_rank = static_cast<int>(std::min<size_t>(21, ranks - 1)),
                         .clock_off_ns = 500e3,
                         .clock_drift = 5e-6});
  size_t bytes = 0;
  for (size_t rank = 0; rank < ranks; ++rank) {
    RankCalls calls = simulated.calls[rank % simulated.calls.size()];
    const std::string path = folder + "/r" + std::to_string(rank) + ".batchlight";
    Status written = WriteWholeFile(path, EmptyRecording());
    const std::string part = EncodeJobPart(MakePart(rank, ranks, steps, std::move(calls)));
    if (written.ok()) written = AddPart(path, part);
    if (!written.ok()) {
      std::fprintf(stderr, "%s\n", written.message().c_str());
      return 1;
    }
    bytes += ReadWholeFile(path).value().size();
  }
  std::printf("%zu recordings of %zu bytes\n", ranks, bytes / ranks);
  return 0;
}

}  // namespace
}  // namespace batchlight

int main(int argc, char** argv) {
  const auto number = [&](int at, size_t otherwise) {
    return argc > at ? std::strtoul(argv[at], nullptr, 10) : otherwise;
  };
  if (argc < 3 || number(2, 0) == 0 || number(3, 1) == 0 || number(4, 1) == 0) {
    std::fprintf(stderr, "make_ranks FOLDER RANKS [STEPS [CALLS_PER_STEP]]\n");
    return 2;
  }
  return batchlight::Run(argv[1], number(2, 1), number(3, 1000), number(4, 20));
}
