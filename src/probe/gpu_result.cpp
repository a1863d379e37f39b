#include "probe/gpu_result.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "analysis/cuda/gpu_peaks.h"
#include "analysis/numbers/quantile.h"
#include "analysis/result/result_column.h"

namespace batchlight::probe {
namespace {

enum class Peak { kNone, kBandwidth, kFp64, kFp32, kTf32, kHalf, kFp8 };

struct Measure {
  const char* key;
  const char* title;
  const char* unit;
  bool lower_is_better;
  Peak peak;
};
constexpr Measure kMeasures[] = {
#define GPU_MEASURE(key, title, unit, lower_is_better, peak) \
  {key, title, unit, lower_is_better, Peak::peak},
#include "probe/gpu_measures.def"
#undef GPU_MEASURE
};

double PeakOf(const GpuPeaks& peaks, Peak peak) {
  switch (peak) {
    case Peak::kNone:
      return 0;
    case Peak::kBandwidth:
      return peaks.bandwidth_gbps;
    case Peak::kFp64:
      return peaks.fp64_tflops;
    case Peak::kFp32:
      return peaks.fp32_tflops;
    case Peak::kTf32:
      return peaks.tf32_tflops;
    case Peak::kHalf:
      return peaks.half_tflops;
    case Peak::kFp8:
      return peaks.fp8_tflops;
  }
  return 0;
}

// Files come from other machines: what is missing or of another type is left out.
double NumberAt(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

std::string TextAt(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// "?" for a number that counts nothing: 1e300.
std::string WholeAt(const nlohmann::json& object, const char* key, int64_t unit = 1) {
  constexpr double kMost = 1e15;
  const double number = NumberAt(object, key);
  return std::abs(number) < kMost ? std::to_string(static_cast<int64_t>(number) / unit) : "?";
}

// The objects of a list; none if it is no list.
std::vector<nlohmann::json> ObjectsAt(const nlohmann::json& object, const char* key) {
  std::vector<nlohmann::json> objects;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return objects;
  for (const nlohmann::json& one : *found) {
    if (one.is_object()) objects.push_back(one);
  }
  return objects;
}

void AddGpu(const nlohmann::json& gpu, GpuResult& result) {
  const std::string name = TextAt(gpu, "name");
  result.gpus.push_back(name);
  const GpuPeaks peaks = PeaksOf(name, {});
  const auto measured = gpu.find("measurements");
  if (measured == gpu.end() || !measured->is_object()) return;
  for (const Measure& measure : kMeasures) {
    const double value = NumberAt(*measured, measure.key);
    if (value <= 0) continue;
    result.figures.push_back({result.host, "GPU " + WholeAt(gpu, "index"), name, measure.title,
                              measure.unit, value, measure.lower_is_better,
                              PeakOf(peaks, measure.peak)});
  }
}

// Figures of one measure on one kind of GPU.
struct Alike {
  size_t count = 0;
  double least = 0;
  double most = 0;
  double median = 0;
};

// How far from its like a figure may be. What leaves the GPU shares ways with others.
double LeastShare(const GpuFigure& figure) {
  const bool on_gpu = figure.unit == "TFLOPS" || figure.measure.starts_with("its memory");
  return on_gpu ? 0.95 : 0.85;
}

double ShareOf(const GpuFigure& figure, double typical) {
  return figure.lower_is_better ? typical / figure.value : figure.value / typical;
}

void AddIfSlow(const GpuFigure& figure, double typical, std::vector<SlowFigure>& slow) {
  const double share = ShareOf(figure, typical);
  if (share < LeastShare(figure)) slow.push_back({figure, typical, share});
}

std::vector<SlowFigure> SlowestFirst(std::vector<SlowFigure> slow) {
  std::stable_sort(slow.begin(), slow.end(),
                   [](const SlowFigure& a, const SlowFigure& b) { return a.share < b.share; });
  return slow;
}

}  // namespace

Result<GpuResult> ParseGpuResult(const std::string& from, const std::string& json) {
  const nlohmann::json parsed = nlohmann::json::parse(json, nullptr, false);
  if (!parsed.is_object() || TextAt(parsed, "kind") != "batchlight-gpu-probe") {
    return InputError(from + " is no result of `batchlight probe gpu -f json`");
  }
  GpuResult result;
  result.host = TextAt(parsed, "host");
  result.versions = "PyTorch " + TextAt(parsed, "torch") + ", CUDA " + TextAt(parsed, "cuda");
  const std::string driver = TextAt(parsed, "driver");
  if (!driver.empty()) result.versions += ", driver " + driver;
  for (const nlohmann::json& gpu : ObjectsAt(parsed, "gpus")) AddGpu(gpu, result);
  for (const nlohmann::json& link : ObjectsAt(parsed, "links")) {
    const auto peer = link.find("peer");
    const bool direct = peer != link.end() && peer->is_boolean() && peer->get<bool>();
    result.figures.push_back({result.host,
                              "GPU " + WholeAt(link, "from") + " to " + WholeAt(link, "to"),
                              direct ? "link" : "way over the host", "copy between GPUs", "GB/s",
                              NumberAt(link, "gbps"), false, 0});
  }
  for (const nlohmann::json& row : ObjectsAt(parsed, "all_reduce")) {
    const std::string mib = WholeAt(row, "bytes", 1 << 20);
    const std::string gpus = WholeAt(row, "gpus") + " GPUs";
    result.figures.push_back({result.host, gpus, gpus,
                              "NCCL all-reduce of " + mib + " MiB, each link", "GB/s",
                              NumberAt(row, "gbps"), false, 0});
  }
  std::erase_if(result.figures, [](const GpuFigure& figure) { return !(figure.value > 0); });
  const auto notes = parsed.find("notes");
  if (notes != parsed.end() && notes->is_array()) {
    for (const nlohmann::json& note : *notes) {
      if (note.is_string()) result.notes.push_back(note.get<std::string>());
    }
  }
  return result;
}

std::vector<SlowFigure> FindSlow(const std::vector<GpuResult>& results) {
  std::map<std::tuple<std::string, std::string>, std::vector<double>> values;
  for (const GpuResult& result : results) {
    for (const GpuFigure& figure : result.figures) {
      values[{figure.kind, figure.measure}].push_back(figure.value);
    }
  }
  std::map<std::tuple<std::string, std::string>, Alike> alike;
  for (auto& [like, all] : values) {
    const auto [least, most] = std::minmax_element(all.begin(), all.end());
    alike[like] = {all.size(), *least, *most};
    alike[like].median = Quantile(all, 0.5);
  }
  std::vector<SlowFigure> slow;
  for (const GpuResult& result : results) {
    for (const GpuFigure& figure : result.figures) {
      const Alike& all = alike[{figure.kind, figure.measure}];
      // Of two nobody can say which is typical: the better one is what can be had.
      const double typical = all.count > 2            ? all.median
                             : figure.lower_is_better ? all.least
                                                      : all.most;
      AddIfSlow(figure, typical, slow);
    }
  }
  return SlowestFirst(std::move(slow));
}

std::vector<SlowFigure> FindSlower(const GpuResult& now, const GpuResult& before) {
  std::map<std::tuple<std::string, std::string, std::string>, double> known;
  for (const GpuFigure& old : before.figures) {
    known.try_emplace({old.subject, old.measure, old.kind}, old.value);
  }
  std::vector<SlowFigure> slow;
  for (const GpuFigure& figure : now.figures) {
    const auto old = known.find({figure.subject, figure.measure, figure.kind});
    if (old != known.end()) AddIfSlow(figure, old->second, slow);
  }
  return SlowestFirst(std::move(slow));
}

ResultTable GpuTable(const std::vector<GpuResult>& results) {
  using Row = GpuFigure;
  const Columns<Row> columns = {
      {TextColumn("host", "Host", "Where it was measured"),
       [](const Row& row) { return row.host; }},
      {TextColumn("subject", "Of", "A GPU, a link from one to another, or all GPUs of the host"),
       [](const Row& row) { return row.subject; }},
      {TextColumn("kind", "Kind", "Name of the GPU; of links whether they go over the host"),
       [](const Row& row) { return row.kind; }},
      {TextColumn("measure", "Measure", "What was measured"),
       [](const Row& row) { return row.measure; }},
      {RealColumn("value", "Value", "The median of single runs"),
       [](const Row& row) { return Cell{row.value}; }},
      {TextColumn("unit", "Unit", "Of the value; 10^9 and 10^12"),
       [](const Row& row) { return row.unit; }},
      {RealColumn("nominal", "Data sheet", "Peak that MFU is computed with"),
       [](const Row& row) { return row.nominal > 0 ? Cell{row.nominal} : Cell{}; }},
      {PercentColumn("share", "Of peak (%)", "Value / data sheet"),
       [](const Row& row) {
         return row.nominal > 0 ? Cell{100 * row.value / row.nominal} : Cell{};
       }},
  };
  ResultTable table = EmptyTable("probe_gpu", "GPUs", columns);
  for (const GpuResult& result : results) {
    for (const GpuFigure& figure : result.figures) AddRow(table, columns, figure);
  }
  return table;
}

}  // namespace batchlight::probe
