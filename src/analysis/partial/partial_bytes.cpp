#include "analysis/partial/partial_bytes.h"

#include <algorithm>
#include <cmath>

#include "analysis/numbers/packed_bytes.h"

namespace batchlight {
namespace {

constexpr uint64_t kVersion = 6;
// What is older is read without.
constexpr uint64_t kFirstWithPace = 2;
constexpr uint64_t kFirstWithEnd = 3;
constexpr uint64_t kFirstWithOwnTimes = 5;
constexpr uint64_t kFirstWithClock = 6;

constexpr uint8_t kPhaseKinds = 0
#define PHASE_KIND(Name, name, key) +1
#include "analysis/phases/phase_kinds.def"
#undef PHASE_KIND
    ;

using Writer = PackedWriter;
using Reader = PackedReader;

void WriteTimes(const CallTimes& times, Writer& out) {
  out.Number(times.size());
  out.Bytes(times.bytes());
}

void ReadTimes(Reader& in, bool keep, CallTimes& times) {
  const size_t count = in.Count();
  const std::string_view bytes = in.Numbers(count);
  if (keep && in.ok() && !times.Take(bytes, count)) in.Fail();
}

void WriteIdentity(const InputIdentity& identity, Writer& out) {
  for (const std::string* text :
       {&identity.job, &identity.command, &identity.first_process, &identity.version}) {
    out.Text(*text);
  }
  out.Number(identity.ranks.size());
  for (const int32_t rank : identity.ranks) out.Signed(rank);
  out.Number(identity.communicators.size());
  for (const uint64_t id : identity.communicators) out.Number(id);
  out.Signed(identity.world_size);
  out.Signed(identity.start_utc_ns);
  out.Signed(identity.end_utc_ns);
}

InputIdentity ReadIdentity(Reader& in) {
  InputIdentity identity;
  for (std::string* text :
       {&identity.job, &identity.command, &identity.first_process, &identity.version}) {
    *text = in.Text();
  }
  for (size_t left = in.Count(); left > 0; --left) {
    identity.ranks.insert(static_cast<int32_t>(in.Signed()));
  }
  for (size_t left = in.Count(); left > 0; --left) identity.communicators.insert(in.Number());
  identity.world_size = static_cast<int32_t>(in.Signed());
  identity.start_utc_ns = in.Signed();
  identity.end_utc_ns = in.Signed();
  return identity;
}

void WriteCalls(const RankCalls& calls, Writer& out) {
  out.Number(calls.kinds.size());
  for (const CallKind& kind : calls.kinds) {
    out.Number(kind.communicator);
    out.Number(kind.ranks);
    out.Text(kind.operation);
    out.Number(kind.bytes);
  }
  out.Column(calls.kind);
  WriteTimes(calls.ends, out);
  out.Column(calls.kernel);
  for (size_t i = 0; i < calls.size(); ++i) {
    const bool all = calls.exposed[i] == calls.kernel[i];
    out.Number(all ? 0 : uint64_t{calls.exposed[i]} + 1);
  }
  out.Column(calls.step_begin);
}

void ReadCalls(Reader& in, bool ends, RankCalls& calls) {
  for (size_t left = in.Count(); left > 0; --left) {
    CallKind& kind = calls.kinds.emplace_back();
    kind.communicator = in.Number();
    kind.ranks = in.As<uint32_t>();
    kind.operation = in.Text();
    kind.bytes = in.Number();
  }
  in.Column(calls.kind);
  ReadTimes(in, ends, calls.ends);
  in.Column(calls.kernel);
  calls.exposed.reserve(calls.kernel.size());
  for (size_t i = 0; i < calls.kernel.size(); ++i) {
    const uint64_t exposed = in.Number();
    calls.exposed.push_back(exposed == 0 ? calls.kernel[i] : static_cast<uint32_t>(exposed - 1));
  }
  in.Column(calls.step_begin);
}

// Whether columns that belong together are of one length, and rows point into them.
bool IsWhole(const RankPartial& rank, bool ends) {
  const RankCalls& calls = rank.calls;
  bool whole = calls.kernel.size() == calls.size() && calls.exposed.size() == calls.size() &&
               (!ends || calls.ends.size() == calls.size()) &&
               rank.step_number.size() == rank.step_ns.size();
  for (const uint16_t kind : calls.kind) whole = whole && kind < calls.kinds.size();
  for (size_t i = 0; i < rank.steady.size(); ++i) {
    whole = whole && rank.steady[i] < rank.step_ns.size() &&
            (i == 0 || rank.steady[i - 1] < rank.steady[i]);
  }
  const RankPace& pace = rank.pace;
  whole = whole && pace.gpu_us.size() == pace.cpu_us.size() &&
          (pace.empty() || pace.cpu_us.size() == rank.step_ns.size());
  for (const PhaseTimes& phase : rank.phases) {
    whole = whole && phase.per_step_us.size() == rank.step_ns.size();
  }
  const std::vector<uint32_t>& begin = calls.step_begin;
  for (size_t i = 0; i < begin.size(); ++i) {
    whole = whole && begin[i] <= calls.size() && (i == 0 || begin[i - 1] <= begin[i]);
  }
  return whole && (begin.empty() || begin.size() == rank.step_ns.size() + 1);
}

void WriteRank(const RankPartial& rank, Writer& out) {
  out.Signed(rank.rank);
  out.Number(rank.pid);
  out.Text(rank.host);
  out.Column(rank.step_ns);
  out.Column(rank.step_number);
  out.Column(rank.steady);
  out.Number(rank.phases.size());
  for (const PhaseTimes& phase : rank.phases) {
    out.Number(static_cast<uint64_t>(phase.kind));
    out.Text(phase.name);
    out.Column(phase.per_step_us);
  }
  out.Number(rank.kernels.size());
  for (const KernelTimes& kernel : rank.kernels) {
    out.Text(kernel.name);
    out.Number(kernel.count);
    out.Signed(kernel.total_ns);
    out.Signed(kernel.median_ns);
  }
  out.Column(rank.pace.cpu_us);
  out.Column(rank.pace.gpu_us);
  WriteCalls(rank.calls, out);
}

RankPartial ReadRank(Reader& in, uint64_t version, bool ends) {
  RankPartial rank;
  rank.rank = static_cast<int32_t>(in.Signed());
  rank.pid = in.As<uint32_t>();
  rank.host = in.Text();
  in.Column(rank.step_ns);
  in.Column(rank.step_number);
  in.Column(rank.steady);
  for (size_t left = in.Count(); left > 0; --left) {
    PhaseTimes& phase = rank.phases.emplace_back();
    const auto kind = in.As<uint8_t>();
    phase.kind = kind < kPhaseKinds ? static_cast<PhaseKind>(kind) : PhaseKind::kOther;
    phase.name = in.Text();
    in.Column(phase.per_step_us);
  }
  for (size_t left = in.Count(); left > 0; --left) {
    KernelTimes& kernel = rank.kernels.emplace_back();
    kernel.name = in.Text();
    kernel.count = in.Number();
    kernel.total_ns = in.Signed();
    kernel.median_ns = in.Signed();
  }
  if (version >= kFirstWithPace) {
    in.Column(rank.pace.cpu_us);
    in.Column(rank.pace.gpu_us);
  }
  ReadCalls(in, ends, rank.calls);
  return rank;
}

// What later versions added.
void WriteEnd(const JobPart& part, Writer& out) {
  out.Number(part.identity.trains ? 1 : 0);
  for (const RankPartial& rank : part.ranks) {
    const RankCondition& condition = rank.condition;
    out.Column(condition.collected_us);
    out.Real(condition.clock_mhz);
    out.Real(condition.held_by_power);
    out.Real(condition.held_by_heat);
    out.Column(rank.calls.sent);
    out.Column(rank.calls.received);
  }
}

void ReadEnd(Reader& in, JobPart& part) {
  const uint64_t trains = in.Number();
  part.identity.trains = trains != 0;
  for (RankPartial& rank : part.ranks) {
    RankCondition& condition = rank.condition;
    in.Column(condition.collected_us);
    for (double* figure :
         {&condition.clock_mhz, &condition.held_by_power, &condition.held_by_heat}) {
      *figure = in.Real();
      if (!std::isfinite(*figure)) *figure = -1;
    }
    in.Column(rank.calls.sent);
    in.Column(rank.calls.received);
  }
}

void WriteClock(const HostClock& clock, Writer& out) {
  out.Text(clock.host);
  out.Number(clock.is_known ? 1 : 0);
  out.Number(clock.is_kept ? 1 : 0);
  out.Signed(clock.most_error_ns);
}

HostClock ReadClock(Reader& in) {
  HostClock clock;
  clock.host = in.Text();
  const uint64_t is_known = in.Number(), is_kept = in.Number();
  clock.is_known = is_known != 0;
  clock.is_kept = is_kept != 0;
  clock.most_error_ns = std::clamp<int64_t>(in.Signed(), 0, int64_t{3600} * 1'000'000'000);
  return clock;
}

bool HasWholeEnd(const RankPartial& rank) {
  const RankCalls& calls = rank.calls;
  return calls.sent.size() == calls.received.size() &&
         (calls.sent.empty() || calls.sent.size() == calls.size());
}

}  // namespace

std::string EncodeJobPart(const JobPart& part) {
  Writer out;
  out.Number(kVersion);
  WriteIdentity(part.identity, out);
  out.Number(part.losses);
  out.Number(part.ranks.size());
  for (const RankPartial& rank : part.ranks) WriteRank(rank, out);
  WriteEnd(part, out);
  for (const RankPartial& rank : part.ranks) out.Text(rank.own_times);
  WriteClock(part.clock, out);
  return out.Take();
}

bool IsJobPart(std::string_view bytes) {
  const uint64_t version = Reader(bytes).Number();
  return version > 0 && version <= kVersion;
}

std::optional<JobPart> DecodeJobPart(std::string_view bytes, bool ends) {
  Reader in(bytes);
  const uint64_t version = in.Number();
  if (version == 0 || version > kVersion) return std::nullopt;
  JobPart part{.identity = ReadIdentity(in), .ranks = {}};
  part.losses = in.Number();
  for (size_t left = in.Count(); left > 0 && in.ok(); --left) {
    part.ranks.push_back(ReadRank(in, version, ends));
    if (!in.ok() || !IsWhole(part.ranks.back(), ends)) return std::nullopt;
  }
  if (version >= kFirstWithEnd) ReadEnd(in, part);
  if (version >= kFirstWithOwnTimes) {
    for (RankPartial& rank : part.ranks) rank.own_times = in.Text();
  }
  if (version >= kFirstWithClock) part.clock = ReadClock(in);
  if (!in.ok() || !std::all_of(part.ranks.begin(), part.ranks.end(), HasWholeEnd)) {
    return std::nullopt;
  }
  return part;
}

}  // namespace batchlight
