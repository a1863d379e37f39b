#include "export/text/python_stacks.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/lines/source_place.h"
#include "analysis/lines/stack_times.h"
#include "analysis/owners/attribution.h"
#include "analysis/owners/backward_links.h"
#include "base/protobuf_message.h"
#include "export/text_buffer.h"

namespace batchlight {
namespace {

Result<std::vector<StackTimes>> PythonStacksOf(const Store& store) {
  const BackwardLinks links(store);
  std::vector<StackTimes> stacks = MeasureStacks(store, links, AttributeWork(store, links));
  if (stacks.empty()) {
    return InputError("no Python stacks were recorded: profile --python-lines=gpu");
  }
  return stacks;
}

// Innermost first, without those of the recorder.
std::vector<PythonFrameId> FramesOf(const Store& store, PythonStackId stack) {
  std::vector<PythonFrameId> frames;
  for (; !stack.IsNone(); stack = store.python_stacks.parent[stack.row()]) {
    const PythonFrameId frame = store.python_stacks.frame[stack.row()];
    if (frame.IsNone()) continue;
    const std::string_view file = store.Text(store.python_frames.file[frame.row()]);
    if (OwnerOfSource(file) != SourceOwner::kNobody) frames.push_back(frame);
  }
  return frames;
}

// What the stack does not say: "" for the forward of a line.
std::string Remark(const StackTimes& times) {
  if (times.kind != LineKind::kLine) return std::string(LineKindName(times.kind));
  return times.backward ? "backward" : "";
}

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

// --- speedscope ---------------------------------------------------------------------------------

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

// --- pprof --------------------------------------------------------------------------------------

// Field numbers are those of pprof's profile.proto.
class PprofProfile {
 public:
  explicit PprofProfile(const Store& store) : store_(store) { Text(""); }

  void AddType(std::string_view type, std::string_view unit) {
    profile_.Message(1, ProtobufMessage().Number(1, Text(type)).Number(2, Text(unit)));
  }
  void AddSample(const StackTimes& times) {
    ProtobufMessage sample;
    for (const PythonFrameId frame : FramesOf(store_, times.stack)) {
      sample.Number(1, LocationOf(frame));
    }
    sample.Number(2, times.calls)
        .Number(2, static_cast<uint64_t>(times.cpu_ns))
        .Number(2, static_cast<uint64_t>(times.gpu_ns));
    if (const std::string remark = Remark(times); !remark.empty()) {
      sample.Message(3, ProtobufMessage().Number(1, Text("part")).Number(2, Text(remark)));
    }
    profile_.Message(2, sample);
    has_gpu_ = has_gpu_ || times.gpu_ns > 0;
  }
  std::string Finish() {
    // All places are named already: without that, pprof looks for a program to ask for names.
    profile_.Message(3, ProtobufMessage()
                            .Number(1, kMapping)
                            .Number(5, Text("Python"))
                            .Number(7, 1)
                            .Number(8, 1)
                            .Number(9, 1));
    const uint64_t shown_first = Text(has_gpu_ ? "gpu" : "cpu");
    ProtobufMessage texts;
    for (const std::string& text : texts_) texts.Bytes(6, text);
    return profile_.Append(texts).Number(14, shown_first).bytes();
  }

 private:
  static constexpr uint64_t kMapping = 1;

  uint64_t Text(std::string_view text) {
    const auto [place, added] = numbers_.try_emplace(ValidUtf8(text), texts_.size());
    if (added) texts_.push_back(place->first);
    return place->second;
  }

  uint64_t LocationOf(PythonFrameId frame) {
    const auto [location, added] = locations_.try_emplace(frame, locations_.size() + 1);
    if (!added) return location->second;
    const PythonFramesTable& frames = store_.python_frames;
    const size_t row = frame.row();
    const uint64_t name = Text(store_.Text(frames.function[row]));
    const uint64_t file = Text(store_.Text(frames.file[row]));
    const auto [function, is_new] =
        functions_.try_emplace({name, file, frames.first_line[row]}, functions_.size() + 1);
    if (is_new) {
      // Without a name of the linker's (3): pprof would take it for C++ and <module> for arguments
      // of a template.
      profile_.Message(5, ProtobufMessage()
                              .Number(1, function->second)
                              .Number(2, name)
                              .Number(4, file)
                              .Number(5, frames.first_line[row]));
    }
    profile_.Message(
        4,
        ProtobufMessage()
            .Number(1, location->second)
            .Number(2, kMapping)
            .Message(4, ProtobufMessage().Number(1, function->second).Number(2, frames.line[row])));
    return location->second;
  }

  const Store& store_;
  ProtobufMessage profile_;
  bool has_gpu_ = false;
  std::vector<std::string> texts_;
  std::map<std::string, uint64_t> numbers_;
  std::map<PythonFrameId, uint64_t> locations_;
  std::map<std::tuple<uint64_t, uint64_t, uint32_t>, uint64_t> functions_;
};

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

Result<uint64_t> ExportPprof(const Store& store, const ExportOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<StackTimes> stacks, PythonStacksOf(store));
  ASSIGN_OR_RETURN(AtomicFileWriter file, OpenOutput(options));
  TextBuffer out(file);
  PprofProfile profile(store);
  profile.AddType("calls", "count");
  profile.AddType("cpu", "nanoseconds");
  profile.AddType("gpu", "nanoseconds");
  for (const StackTimes& times : stacks) profile.AddSample(times);
  out << profile.Finish();
  RETURN_IF_ERROR(out.Finish());
  return stacks.size();
}

}  // namespace batchlight
