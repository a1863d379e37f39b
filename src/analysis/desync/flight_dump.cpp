#include "analysis/desync/flight_dump.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/desync/pickle.h"

namespace batchlight {
namespace {

constexpr size_t kMostGroups = 100'000;
constexpr int kMostDepth = 32;

// Keys that the outermost object of a dump has, and that of a trace does not.
constexpr std::array<std::string_view, 8> kKeys = {
    "entries",          "pg_config",    "pg_status", "nccl_comm_state",
    "comm_lib_version", "nccl_version", "version",   "rank"};

Result<uint32_t> AddJson(const nlohmann::json& json, int depth, PlainTree& tree) {
  if (depth > kMostDepth) return InputError("its lists lie too deep in each other");
  PlainNode node;
  if (json.is_boolean()) {
    node = {.kind = PlainKind::kBool, .integer = json.get<bool>()};
  } else if (json.is_number_integer()) {
    node = {.kind = PlainKind::kInteger, .integer = json.get<int64_t>()};
  } else if (json.is_number()) {
    node = {.kind = PlainKind::kReal, .real = json.get<double>()};
  } else if (json.is_string()) {
    node = {.kind = PlainKind::kText, .text = json.get<std::string>()};
  } else if (json.is_array()) {
    node.kind = PlainKind::kList;
    for (const nlohmann::json& item : json) {
      ASSIGN_OR_RETURN(const uint32_t added, AddJson(item, depth + 1, tree));
      node.items.push_back(added);
    }
  } else if (json.is_object()) {
    node.kind = PlainKind::kDictionary;
    for (const auto& [key, value] : json.items()) {
      node.items.push_back(tree.Add({.kind = PlainKind::kText, .text = key}));
      ASSIGN_OR_RETURN(const uint32_t added, AddJson(value, depth + 1, tree));
      node.items.push_back(added);
    }
  }
  return tree.Add(std::move(node));
}

Result<PlainTree> ReadJson(std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) return InputError("it is damaged JSON");
  PlainTree tree;
  ASSIGN_OR_RETURN(const uint32_t root, AddJson(json, 0, tree));
  tree.SetRoot(root);
  return tree;
}

// "[0, 1, 2]", or a list of numbers.
std::vector<int32_t> RanksOf(const PlainValue& value) {
  std::vector<int32_t> ranks;
  for (size_t i = 0; i < value.size(); ++i) {
    ranks.push_back(static_cast<int32_t>(value.At(i).Integer(-1)));
  }
  const std::string_view text = value.Text();
  for (size_t at = 0; at < text.size();) {
    int32_t rank = 0;
    const auto [stop, error] = std::from_chars(text.data() + at, text.data() + text.size(), rank);
    if (error == std::errc()) ranks.push_back(rank);
    at = std::max(at + 1, static_cast<size_t>(stop - text.data()));
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
    return std::string(file.substr(file.rfind('/') + 1)) + ":" +
           std::to_string(frame.Get("line").Integer()) + " (" +
           std::string(frame.Get("name").Text()) + ")";
  }
  return "";
}

// Of all tensors together.
uint64_t ElementsOf(const PlainValue& sizes) {
  uint64_t sum = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    uint64_t product = 1;
    for (size_t k = 0; k < sizes.At(i).size(); ++k) {
      product *= static_cast<uint64_t>(sizes.At(i).At(k).Integer());
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
      const PlainValue name = group.Get("name");
      FlightGroup& known = GroupOf(name.Is(PlainKind::kText) ? name.Text() : key.Text());
      known.description = group.Get("desc").Text();
      known.ranks = RanksOf(group.Get("ranks"));
    });
    for (size_t i = 0; i < entries.size(); ++i) AddCall(entries.At(i));
    if (dump_.groups.size() > kMostGroups) return InputError("it has over 100,000 groups");
    return std::move(dump_);
  }

 private:
  FlightGroup& GroupOf(std::string_view name) {
    const auto row = static_cast<uint32_t>(dump_.groups.size());
    const auto [known, is_new] = rows_.try_emplace(std::string(name), row);
    if (is_new) dump_.groups.push_back({.name = std::string(name), .description = "", .ranks = {}});
    return dump_.groups[known->second];
  }

  void AddCall(const PlainValue& entry) {
    const PlainValue process_group = entry.Get("process_group");
    FlightGroup& group = GroupOf(process_group.At(0).Text());
    if (group.description.empty()) group.description = process_group.At(1).Text();
    FlightCall& call = dump_.calls.emplace_back();
    call.group = static_cast<uint32_t>(&group - dump_.groups.data());
    const std::string_view name = entry.Get("profiling_name").Text();
    call.operation = name.substr(name.find(':') == std::string_view::npos ? 0 : name.find(':') + 1);
    call.between_two = entry.Get("is_p2p").Integer() != 0 || call.operation.starts_with("send ") ||
                       call.operation.starts_with("recv ");
    const PlainValue number = entry.Get("collective_seq_id");
    call.number = static_cast<uint64_t>(
        number.Is(PlainKind::kInteger) ? number.Integer() : entry.Get("seq_id").Integer());
    call.elements = ElementsOf(entry.Get("input_sizes"));
    call.type = entry.Get("input_dtypes").At(0).Text();
    const std::string_view state = entry.Get("state").Text();
    if (state == "completed") call.state = FlightState::kCompleted;
    if (state == "started") call.state = FlightState::kStarted;
    call.created_ns = entry.Get("time_created_ns").Integer();
    call.place = PlaceOf(entry.Get("frames"));
  }

  FlightDump dump_;
  std::map<std::string, uint32_t, std::less<>> rows_;  // of its groups
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

Result<FlightDump> ReadFlightDump(std::string_view bytes) {
  ASSIGN_OR_RETURN(const PlainTree tree, IsPickle(bytes) ? ReadPickle(bytes) : ReadJson(bytes));
  return DumpReader().Read(tree);
}

}  // namespace batchlight
