#include "analysis/desync/flight_dump.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "analysis/desync/pickle.h"
#include "analysis/desync/plain_json.h"

namespace batchlight {
namespace {

// A dump has 2,000 calls unless TORCH_NCCL_TRACE_BUFFER_SIZE says otherwise. Whatever a file names
// again and again by reference, no dump grows larger than this.
constexpr size_t kMostCallsOfDump = 200'000;
constexpr size_t kMostGroups = 100'000;
constexpr size_t kMostRanks = 1'000'000;     // of all groups
constexpr size_t kMostNameBytes = 1024;      // longer ones are cut
constexpr size_t kMostTextBytes = 32 << 20;  // of all names
constexpr uint64_t kVisitsPerValue = 10;     // each of a real dump's is looked at once or twice

// Keys that the outermost object of a dump has, and that of a trace does not.
constexpr std::array<std::string_view, 8> kKeys = {
    "entries",          "pg_config",    "pg_status", "nccl_comm_state",
    "comm_lib_version", "nccl_version", "version",   "rank"};

// Of all tensors together.
uint64_t ElementsOf(const PlainValue& sizes) {
  uint64_t sum = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const PlainValue tensor = sizes.At(i);
    uint64_t product = 1;
    for (size_t k = 0; k < tensor.size(); ++k) {
      product *= static_cast<uint64_t>(tensor.At(k).Integer());
    }
    sum += product;
  }
  return sum;
}

class DumpReader {
 public:
  Result<FlightDump> Read(const PlainTree& tree) {
    const PlainValue root = tree.root();
    const PlainValue entries = root.Get("entries");
    if (!entries.Is(PlainKind::kList)) return InputError("it has no list of `entries`");
    dump_.rank = static_cast<int32_t>(root.Get("rank").Integer(-1));
    root.Get("pg_config").VisitEntries([&](const PlainValue& key, const PlainValue& group) {
      if (error_.empty()) AddGroup(key, group);
    });
    for (size_t i = 0; i < entries.size() && error_.empty(); ++i) AddCall(entries.At(i));
    if (error_.empty() && tree.WasCutShort()) {
      error_ = "its values name each other too often";
    }
    if (!error_.empty()) return InputError(error_);
    return std::move(dump_);
  }

 private:
  void FailAsTooMany(size_t most, std::string_view of) {
    error_ = "it has over " + std::to_string(most) + " " + std::string(of);
  }

  // A copy, cut if it is too long.
  std::string Name(std::string_view text) {
    text = text.substr(0, kMostNameBytes);
    text_bytes_ += text.size();
    if (text_bytes_ > kMostTextBytes) FailAsTooMany(kMostTextBytes, "bytes of names");
    return std::string(text);
  }

  FlightGroup& GroupOf(std::string_view name) {
    name = name.substr(0, kMostNameBytes);
    const auto known = rows_.find(name);
    if (known != rows_.end()) return dump_.groups[known->second];
    if (dump_.groups.size() >= kMostGroups) FailAsTooMany(kMostGroups, "groups");
    rows_.emplace(name, static_cast<uint32_t>(dump_.groups.size()));
    return dump_.groups.emplace_back(
        FlightGroup{.name = Name(name), .description = "", .ranks = {}});
  }

  void AddGroup(const PlainValue& key, const PlainValue& group) {
    const PlainValue name = group.Get("name");
    FlightGroup& known = GroupOf(name.Is(PlainKind::kText) ? name.Text() : key.Text());
    known.description = Name(group.Get("desc").Text());
    known.ranks = RanksOf(group.Get("ranks"));
  }

  // "[0, 1, 2]", or a list of numbers.
  std::vector<int32_t> RanksOf(const PlainValue& value) {
    std::vector<int32_t> ranks;
    const auto add = [&](int64_t rank) {
      if (++ranks_ > kMostRanks) return FailAsTooMany(kMostRanks, "ranks of groups");
      ranks.push_back(static_cast<int32_t>(rank));
    };
    for (size_t i = 0; i < value.size(); ++i) add(value.At(i).Integer(-1));
    const std::string_view text = value.Text();
    const char* const end = text.data() + text.size();
    for (const char* at = text.data(); at != end;) {
      int32_t rank = 0;
      if (*at != '-' && (*at < '0' || *at > '9')) {
        ++at;
        continue;
      }
      const auto [stop, error] = std::from_chars(at, end, rank);
      if (error == std::errc()) add(rank);
      at = std::max(at + 1, stop);
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
  }

  // The innermost frame that is not PyTorch's own.
  std::string PlaceOf(const PlainValue& frames) {
    for (size_t i = 0; i < frames.size(); ++i) {
      const PlainValue frame = frames.At(i);
      const std::string_view file = frame.Get("filename").Text();
      if (file.empty() || file.find("/torch/") != std::string_view::npos) continue;
      return Name(file.substr(file.rfind('/') + 1)) + ":" +
             std::to_string(frame.Get("line").Integer()) + " (" + Name(frame.Get("name").Text()) +
             ")";
    }
    return "";
  }

  void AddCall(const PlainValue& entry) {
    if (dump_.calls.size() >= kMostCallsOfDump) return FailAsTooMany(kMostCallsOfDump, "calls");
    const PlainValue process_group = entry.Get("process_group");
    FlightGroup& group = GroupOf(process_group.At(0).Text());
    if (group.description.empty()) group.description = Name(process_group.At(1).Text());
    FlightCall& call = dump_.calls.emplace_back();
    call.group = static_cast<uint32_t>(&group - dump_.groups.data());
    const std::string_view name = entry.Get("profiling_name").Text();
    call.operation =
        Name(name.substr(name.find(':') == std::string_view::npos ? 0 : name.find(':') + 1));
    call.between_two = entry.Get("is_p2p").Integer() != 0 || call.operation.starts_with("send ") ||
                       call.operation.starts_with("recv ");
    const PlainValue number = entry.Get("collective_seq_id");
    call.number = static_cast<uint64_t>(
        number.Is(PlainKind::kInteger) ? number.Integer() : entry.Get("seq_id").Integer());
    call.elements = ElementsOf(entry.Get("input_sizes"));
    call.type = Name(entry.Get("input_dtypes").At(0).Text());
    const std::string_view state = entry.Get("state").Text();
    if (state == "completed") call.state = FlightState::kCompleted;
    if (state == "started") call.state = FlightState::kStarted;
    call.created_ns = entry.Get("time_created_ns").Integer();
    call.place = PlaceOf(entry.Get("frames"));
  }

  FlightDump dump_;
  std::map<std::string, uint32_t, std::less<>> rows_;  // of its groups
  size_t ranks_ = 0;
  size_t text_bytes_ = 0;
  std::string error_;
};

}  // namespace

bool IsFlightDump(std::string_view head) {
  if (IsPickle(head)) return true;
  const auto skip_spaces = [&] {
    head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
  };
  skip_spaces();
  if (!head.starts_with('{')) return false;
  head.remove_prefix(1);
  skip_spaces();
  if (!head.starts_with('"')) return false;
  const std::string_view key = head.substr(1, head.find('"', 1) - 1);
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

int32_t RankInName(std::string_view name) {
  name = name.substr(name.rfind('/') + 1);
  const size_t dot = name.rfind('.');
  if (dot != std::string_view::npos &&
      name.find_first_not_of("0123456789", dot + 1) != std::string_view::npos) {
    name = name.substr(0, dot);
  }
  const size_t before = name.find_last_not_of("0123456789");
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  int32_t rank = -1;
  std::from_chars(name.data() + begin, name.data() + name.size(), rank);
  return rank;
}

Result<FlightDump> ReadFlightDump(std::string_view bytes, size_t most_values) {
  Result<PlainTree> tree =
      IsPickle(bytes) ? ReadPickle(bytes, most_values) : ReadPlainJson(bytes, most_values);
  if (!tree.ok()) return tree.status();
  tree->SetMostVisits(kVisitsPerValue * most_values);
  return DumpReader().Read(tree.value());
}

}  // namespace batchlight
