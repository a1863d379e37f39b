// Operators, ranges, modules and CUDA calls of a chrome trace.
#include "analysis/cuda/cuda_call.h"
#include "analysis/owners/backward_links.h"
#include "analysis/phases/phase_marks.h"
#include "analysis/result/nvtx_details.h"
#include "analysis/steps/steps.h"
#include "base/json_text.h"
#include "export/chrome/chrome_trace.h"

namespace batchlight {
namespace {

// print(row) for each row of the table that is selected, which begins an event.
template <typename Table, typename Print>
Status PrintRows(ChromeTrace& trace, const Table& table, const Print& print) {
  if (!trace.selection.HasTable(Table::kName)) return {};
  for (size_t row = 0; row < table.size(); ++row) {
    if (SelectsRow(trace.selection, table, row) && print(row)) RETURN_IF_ERROR(trace.file.End());
  }
  return {};
}

template <typename Table>
void BeginCall(ChromeTrace& trace, const Table& table, size_t row, std::string_view category,
               std::string_view name) {
  const ThreadId thread = table.thread[row];
  trace.file.Begin(category, name, trace.PidOf(thread), trace.Tid(thread), table.start_ns[row],
                   table.end_ns[row]);
}

Status Operators(ChromeTrace& trace) {
  const OperatorCallsTable& calls = trace.store.operator_calls;
  ChromeFile& file = trace.file;
  return PrintRows(trace, calls, [&](size_t row) {
    BeginCall(trace, calls, row, "cpu_op", file.Escaped(calls.name[row]));
    file.Arg("External id") << row + 1;
    file.Arg("Ev Idx") << row;
    if (!calls.shapes[row].IsNone()) {
      file.Arg("Input Dims") << trace.store.Text(calls.shapes[row]);
    }
    if (calls.sequence[row] >= 0) {
      file.Arg("Sequence number") << calls.sequence[row];
      file.Arg("Fwd thread id") << calls.forward_thread[row];
    }
    return true;
  });
}

void AddAnnotation(ChromeTrace& trace, const ChromeAnnotation& annotation) {
  if (trace.store.api_calls.size() > 0) trace.annotations.push_back(annotation);
}

void Steps(ChromeTrace& trace) {
  const StepSet steps = FindSteps(trace.store, trace.options.steps);
  for (const ProcessSteps& process : steps.processes) {
    if (process.thread.IsNone() || !trace.selection.HasProcess(process.process)) continue;
    for (const Step& step : process.steps) {
      if (!trace.selection.HasTime(step.start_ns, step.end_ns)) continue;
      const std::string& name =
          trace.step_names.emplace_back("ProfilerStep#" + std::to_string(step.number));
      trace.file.Begin("user_annotation", name, trace.Pid(process.process),
                       trace.Tid(process.thread), step.start_ns, step.end_ns);
      AddAnnotation(trace, {process.thread, step.start_ns, step.end_ns, name});
      static_cast<void>(trace.file.End());  // steps are few
    }
  }
}

// What ranges and marks say beside their message, as members of `args`.
std::string NvtxMembers(const Store& store, NvtxDomainId domain, NvtxAttributesId attributes) {
  if (domain.IsNone() && attributes.IsNone()) return {};  // most ranges
  const NvtxDetails details = DetailsOf(store, domain, attributes);
  std::string members;
  const auto add = [&](std::string_view key, const std::string& text) {
    if (text.empty()) return;
    members.append(members.empty() ? "\"" : ", \"").append(key).append("\": \"");
    AppendJsonEscaped(text, members);
    members += '"';
  };
  add("Domain", details.domain);
  add("Category", details.category);
  add("Color", details.color);
  add("Payload", details.payload);
  return members;
}

Status Annotations(ChromeTrace& trace) {
  const NvtxRangesTable& ranges = trace.store.nvtx_ranges;
  const PhaseCallsTable& phases = trace.store.phase_calls;
  bool has_steps = false;
  const auto annotate = [&](const auto& table, size_t row, StringId name) {
    has_steps = has_steps || trace.store.Text(name).starts_with("ProfilerStep#");
    const std::string& text = trace.file.Escaped(name);
    BeginCall(trace, table, row, "user_annotation", text);
    AddAnnotation(trace, {table.thread[row], table.start_ns[row], table.end_ns[row], text});
  };
  RETURN_IF_ERROR(PrintRows(trace, ranges, [&](size_t row) {
    if (ranges.style[row] == NvtxStyle::kStartEnd) return false;
    annotate(ranges, row, ranges.message[row]);
    trace.file.Members(NvtxMembers(trace.store, ranges.domain[row], ranges.attributes[row]));
    const uint32_t call = trace.nccl.call_of_range[row];
    if (call != NcclCalls::kNone) AddCollectiveArgs(trace, trace.nccl.calls[call], "");
    return true;
  }));
  RETURN_IF_ERROR(PrintRows(trace, phases, [&](size_t row) {
    annotate(phases, row, phases.name[row]);
    trace.file.TextArg("Phase", Label(phases.phase[row]));
    return true;
  }));
  if (!has_steps) Steps(trace);
  return {};
}

// Start/end ranges need not nest: asynchronous events. One that is still open has no end.
Status StartEndRanges(ChromeTrace& trace) {
  const NvtxRangesTable& ranges = trace.store.nvtx_ranges;
  if (!trace.selection.HasTable(ranges.kName)) return {};
  for (size_t row = 0; row < ranges.size(); ++row) {
    if (ranges.style[row] != NvtxStyle::kStartEnd) continue;
    if (!SelectsRow(trace.selection, ranges, row)) continue;
    const std::string& name = trace.file.Escaped(ranges.message[row]);
    const auto side = [&](char phase, ThreadId thread, int64_t at_ns, std::string_view members) {
      trace.file.Async(phase, row + 1, name, trace.PidOf(thread), trace.Tid(thread), at_ns,
                       members);
    };
    side('b', ranges.thread[row], ranges.start_ns[row],
         NvtxMembers(trace.store, ranges.domain[row], ranges.attributes[row]));
    if (ranges.end_ns[row] != kOpenEnd) side('e', ranges.end_thread[row], ranges.end_ns[row], {});
    RETURN_IF_ERROR(trace.file.out().FlushIfLarge());
  }
  return {};
}

Status Marks(ChromeTrace& trace) {
  const NvtxMarksTable& marks = trace.store.nvtx_marks;
  if (!trace.selection.HasTable(marks.kName)) return {};
  for (size_t row = 0; row < marks.size(); ++row) {
    if (!SelectsRow(trace.selection, marks, row)) continue;
    const ThreadId thread = marks.thread[row];
    trace.file.Instant("cpu_instant_event", trace.file.Escaped(marks.message[row]),
                       trace.PidOf(thread), trace.Tid(thread), marks.start_ns[row],
                       NvtxMembers(trace.store, marks.domain[row], marks.attributes[row]));
    RETURN_IF_ERROR(trace.file.out().FlushIfLarge());
  }
  return {};
}

Status Modules(ChromeTrace& trace) {
  const ModuleCallsTable& calls = trace.store.module_calls;
  ChromeFile& file = trace.file;
  return PrintRows(trace, calls, [&](size_t row) {
    BeginCall(trace, calls, row, "python_function", "nn.Module: " + file.Escaped(calls.path[row]));
    file.Arg("Python id") << row + 1;
    const bool is_root = calls.parent[row].IsNone();
    file.Arg("Python parent id") << (is_root ? 0 : calls.parent[row].row() + 1);
    file.TextArg("Module class", file.Escaped(calls.class_name[row]));
    return true;
  });
}

// The innermost operator around each call, both ordered by thread and start.
std::vector<uint32_t> OperatorsAroundApiCalls(const Store& store) {
  const OperatorCallsTable& operators = store.operator_calls;
  const ApiCallsTable& calls = store.api_calls;
  std::vector<uint32_t> around(calls.size(), UINT32_MAX);
  std::vector<uint32_t> open;
  size_t next = 0;
  for (size_t row = 0; row < calls.size(); ++row) {
    const ThreadId thread = calls.thread[row];
    for (; next < operators.size() && std::pair(operators.thread[next], operators.start_ns[next]) <=
                                          std::pair(thread, calls.start_ns[row]);
         ++next) {
      open.push_back(static_cast<uint32_t>(next));
    }
    while (!open.empty() && (operators.thread[open.back()] != thread ||
                             operators.end_ns[open.back()] < calls.end_ns[row])) {
      open.pop_back();
    }
    if (!open.empty()) around[row] = open.back();
  }
  return around;
}

Status ApiCalls(ChromeTrace& trace) {
  const ApiCallsTable& calls = trace.store.api_calls;
  ChromeFile& file = trace.file;
  return PrintRows(trace, calls, [&](size_t row) {
    BeginCall(trace, calls, row,
              calls.event_class[row] == EventClass::kCudaRuntime ? "cuda_runtime" : "cuda_driver",
              PlainApiName(file.Escaped(calls.name[row])));
    const uint32_t around = trace.operator_around[row];
    if (around != UINT32_MAX) file.Arg("External id") << around + 1;
    file.Arg("correlation") << calls.correlation[row];
    return true;
  });
}

// Arrows point at the function, as Kineto's do, not at the engine's call around it.
size_t FunctionOf(const OperatorCallsTable& calls, const BackwardLink& link) {
  const size_t engine = link.backward.row();
  for (size_t row = engine + 1; row < calls.size(); ++row) {
    if (calls.thread[row] != calls.thread[engine] || calls.start_ns[row] > calls.end_ns[engine]) {
      break;
    }
    const bool is_function = calls.parent[row] == link.backward &&
                             calls.sequence[row] == calls.sequence[link.forward.row()];
    if (is_function) return row;
  }
  return engine;
}

Status BackwardArrows(ChromeTrace& trace) {
  const OperatorCallsTable& calls = trace.store.operator_calls;
  if (!trace.selection.HasTable(calls.kName)) return {};
  const BackwardLinks links(trace.store);
  uint64_t id = 0;
  for (const BackwardLink& link : links.links()) {
    const size_t from = link.forward.row();
    const size_t to = FunctionOf(calls, link);
    if (!SelectsRow(trace.selection, calls, from) || !SelectsRow(trace.selection, calls, to)) {
      continue;
    }
    ++id;
    const auto side = [&](char phase, size_t row) {
      const ThreadId thread = calls.thread[row];
      trace.file.Arrow(phase, "fwdbwd", id, trace.PidOf(thread), trace.Tid(thread),
                       calls.start_ns[row]);
    };
    side('s', from);
    side('f', to);
    RETURN_IF_ERROR(trace.file.out().FlushIfLarge());
  }
  return {};
}

}  // namespace

Status WriteChromeCpu(ChromeTrace& trace) {
  trace.operator_around = OperatorsAroundApiCalls(trace.store);
  for (const auto part :
       {Operators, Annotations, StartEndRanges, Marks, Modules, ApiCalls, BackwardArrows}) {
    RETURN_IF_ERROR(part(trace));
  }
  return {};
}

}  // namespace batchlight
