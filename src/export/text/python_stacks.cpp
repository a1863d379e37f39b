#include "export/text/python_stacks.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analysis/lines/source_place.h"
#include "analysis/owners/attribution.h"
#include "analysis/owners/backward_links.h"
#include "export/text_buffer.h"

namespace batchlight {
Result<std::vector<StackTimes>> PythonStacksOf(const Store& store) {
  const BackwardLinks links(store);
  std::vector<StackTimes> stacks = MeasureStacks(store, links, AttributeWork(store, links));
  if (stacks.empty()) {
    std::string why = "no Python stacks were recorded: profile --python-lines=gpu";
    if (store.python_samples.size() > 0) why += "; samples were: export --stacks=python-samples";
    return InputError(why);
  }
  return stacks;
}

std::vector<PythonFrameId> FramesOf(const Store& store, PythonStackId stack) {
  std::vector<PythonFrameId> frames;
  for (; !stack.IsNone(); stack = store.python_stacks.parent[stack.row()]) {
    const PythonFrameId frame = store.python_stacks.frame[stack.row()];
    if (frame.IsNone()) continue;
    const std::string_view file = store.Text(store.python_frames.file[frame.row()]);
    if (OwnerOfSource(store, file) != SourceOwner::kNobody) frames.push_back(frame);
  }
  return frames;
}

std::string Remark(const StackTimes& times) {
  if (times.kind != LineKind::kLine) return std::string(LineKindName(times.kind));
  return times.backward ? "backward" : "";
}

namespace {

std::string FrameText(const Store& store, PythonFrameId frame) {
  const PythonFramesTable& frames = store.python_frames;
  return std::string(store.Text(frames.function[frame.row()])) + " (" +
         std::string(ShortFile(store.Text(frames.file[frame.row()]))) + ':' +
         std::to_string(frames.line[frame.row()]) + ')';
}

// Outermost first.
std::vector<std::string> FrameTexts(const Store& store, const StackTimes& times) {
  std::vector<std::string> texts;
  for (const PythonFrameId frame : FramesOf(store, times.stack)) {
    texts.push_back(FrameText(store, frame));
  }
  std::reverse(texts.begin(), texts.end());
  const std::string remark = Remark(times);
  if (!remark.empty() || texts.empty()) texts.push_back(remark.empty() ? "no line known" : remark);
  return texts;
}

void PrintSampled(const std::vector<StackTimes>& stacks, int64_t StackTimes::*ns,
                  std::string_view name, const std::vector<std::vector<size_t>>& samples,
                  TextBuffer& out) {
  int64_t total = 0;
  for (const StackTimes& times : stacks) total += times.*ns;
  out << "{\"type\":\"sampled\",\"name\":\"" << name
      << "\",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":" << total
      << ",\n\"samples\":[";
  for (size_t i = 0; i < samples.size(); ++i) {
    out << (i > 0 ? ",\n[" : "\n[");
    for (size_t k = 0; k < samples[i].size(); ++k) out << (k > 0 ? "," : "") << samples[i][k];
    out << ']';
  }
  out << "],\n\"weights\":[";
  for (size_t i = 0; i < stacks.size(); ++i) out << (i > 0 ? "," : "") << stacks[i].*ns;
  out << "]}";
}

}  // namespace

Result<uint64_t> ExportPythonFolded(const Store& store, const ExportOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<StackTimes> stacks, PythonStacksOf(store));
  ASSIGN_OR_RETURN(AtomicFileWriter file, OpenOutput(options));
  TextBuffer out(file);
  uint64_t rows = 0;
  for (const StackTimes& times : stacks) {
    const int64_t ns = options.by_gpu ? times.gpu_ns : times.cpu_ns;
    if (ns <= 0) continue;
    std::string line;
    for (const std::string& frame : FrameTexts(store, times)) {
      if (!line.empty()) line += ';';
      for (const char c : ValidUtf8(frame)) line += c == ';' ? ':' : c == '\n' ? ' ' : c;
    }
    out << line << ' ' << ns << '\n';
    ++rows;
    RETURN_IF_ERROR(out.FlushIfLarge());
  }
  RETURN_IF_ERROR(out.Finish());
  return rows;
}

Result<uint64_t> ExportPythonSpeedscope(const Store& store, const ExportOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<StackTimes> stacks, PythonStacksOf(store));
  ASSIGN_OR_RETURN(AtomicFileWriter file, OpenOutput(options));
  TextBuffer out(file);
  std::map<std::string, size_t> frames;
  std::vector<const std::string*> names;
  std::vector<std::vector<size_t>> samples;
  for (const StackTimes& times : stacks) {
    std::vector<size_t>& sample = samples.emplace_back();
    for (const std::string& text : FrameTexts(store, times)) {
      const auto [frame, added] = frames.try_emplace(text, frames.size());
      if (added) names.push_back(&frame->first);
      sample.push_back(frame->second);
    }
  }
  out << "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
         "\"exporter\":\"batchlight\",\n\"profiles\":[\n";
  PrintSampled(stacks, &StackTimes::cpu_ns, "CPU of operators", samples, out);
  out << ",\n";
  PrintSampled(stacks, &StackTimes::gpu_ns, "GPU", samples, out);
  out << "\n],\n\"shared\":{\"frames\":[";
  for (size_t i = 0; i < names.size(); ++i) {
    out << (i > 0 ? ",\n{\"name\":\"" : "\n{\"name\":\"");
    out.Escaped(*names[i]);
    out << "\"}";
  }
  out << "\n]}}\n";
  RETURN_IF_ERROR(out.Finish());
  return stacks.size();
}

}  // namespace batchlight
