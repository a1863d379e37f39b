#include "analysis/partial/kept_own_times.h"

#include "analysis/numbers/packed_bytes.h"

namespace batchlight {
namespace {

// More than there are, as later versions may keep more: each is compared with those of all ranks.
constexpr size_t kMostNames = 256;

void Write(const std::vector<OwnTimesOfName>& all, PackedWriter& out) {
  out.Number(all.size());
  for (const OwnTimesOfName& times : all) {
    out.Text(times.name);
    out.Number(times.calls);
    out.Number(times.median_us);
    out.Column(times.rows);
    out.Column(times.us);
  }
}

void Read(PackedReader& in, std::vector<OwnTimesOfName>& all) {
  size_t left = in.Count();
  if (left > kMostNames) in.Fail();
  for (; left > 0 && in.ok(); --left) {
    OwnTimesOfName& times = all.emplace_back();
    times.name = in.Text();
    times.calls = in.Number();
    times.median_us = in.As<uint32_t>();
    in.Column(times.rows);
    in.Column(times.us);
    if (times.rows.size() != times.us.size()) in.Fail();
  }
}

}  // namespace

std::string PackOwnTimes(const RankOwnTimes& own) {
  if (own.operators.empty() && own.modules.empty()) return "";
  PackedWriter out;
  Write(own.operators, out);
  Write(own.modules, out);
  return out.Take();
}

RankOwnTimes UnpackOwnTimes(std::string_view bytes) {
  RankOwnTimes own;
  if (bytes.empty()) return own;
  PackedReader in(bytes);
  Read(in, own.operators);
  Read(in, own.modules);
  return in.ok() ? own : RankOwnTimes();
}

}  // namespace batchlight
