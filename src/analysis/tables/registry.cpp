#include "analysis/tables/registry.h"

#include <algorithm>
#include <utility>

#include "analysis/result/table_columns.h"
#include "analysis/run/detailed_steps.h"
#include "analysis/tables/counters/counter_tables.h"
#include "analysis/tables/cpu_tables.h"
#include "analysis/tables/lines_inside_table.h"
#include "analysis/tables/os_tables.h"
#include "analysis/tables/overview_tables.h"

namespace batchlight {
namespace {

// Why something that was asked for is missing, as the tool or a program said; "": not said.
std::string SaidOf(const Store& store, std::string_view feature) {
  const ReasonsTable& reasons = store.reasons;
  for (size_t row = 0; row < reasons.size(); ++row) {
    if (store.Text(reasons.feature[row]) != feature) continue;
    return std::string(store.Text(reasons.text[row]));
  }
  return "";
}

std::string WhyNoPythonSamples(const Store& store) {
  const std::string why = SaidOf(store, "python-sampling");
  const bool is_sentence = why.empty() || why.starts_with("Python code");  // the tool's
  return is_sentence ? why : "Python code was not sampled: " + why;
}

std::string WhyNoCpuSamples(const Store& store) {
  return store.cpu_samples.size() == 0 ? SaidOf(store, "cpu") : "";
}

std::string WhyNoGil(const Store& store) {
  if (store.python_samples.size() == 0) return WhyNoPythonSamples(store);
  return store.Property("python.gil") != "none"
             ? "no thread was seen waiting for the GIL"
             : "free-threaded builds of Python have no GIL, and no thread was seen waiting for one "
               "that an extension brought back";
}

constexpr TableEntry kTables[] = {
    {"advice", "What to change, by estimated gain.", MakeAdviceTable,
     "no rule found anything to change"},
    {"stages", "The life of every training process by stage; they add up to it.", MakeStagesTable,
     "no step was found and no Python program was recorded"},
    {"start_up", "What start-up is made of, with the largest imports.", MakeStartUpTable,
     "the start of the program was not recorded"},
    {"imports",
     "Every module that Python imported, as a tree: its own time and with what it imports.",
     MakeImportsTable, "no imports of Python were recorded"},
    {"figures", "The figures that head the summary, each with whose and of what it is.",
     MakeFiguresTable, "no step was found and no GPU worked"},
    {"steps", "Every step of every training process with the time of each phase.", MakeStepsTable,
     "no step was found; --step-key NAME says what ends one"},
    {"phases", "What a step is made of: one row a phase.", MakePhasesTable,
     "no step was found; --step-key NAME says what ends one"},
    {"phase_events", "The events behind every phase, CPU and GPU; those of a phase add up to it.",
     MakePhaseEventsTable, "no step was found; --step-key NAME says what ends one"},
    {"modules", "Every nn.Module as a tree: forward and backward time.", MakeModulesTable,
     "no module calls were recorded (profile --pytorch=functions-trace; with_modules=True)"},
    {"attribution", "Model, modules, operators, kernels as one tree: CPU and GPU time of each.",
     MakeAttributionTable, "no modules, operators, ranges or GPU work were recorded"},
    {"lines", "Every line of your Python code: its operators on the CPU, its work on the GPU.",
     MakeLinesTable, "no Python stacks were recorded (profile --python-lines=gpu)"},
    {"lines_inside", "What each line of your Python code is made of: lines of packages below it.",
     MakeLinesInsideTable, "no Python stacks were recorded (profile --python-lines=gpu)"},
    {"memory_lines",
     "Every line of your Python code: memory that it allocated, holds at the peak, and gains a "
     "step.",
     MakeMemoryLinesTable,
     "no memory was recorded (profile --python-memory=sampled; of GPUs "
     "--cuda-memory-usage=true --python-lines=gpu)"},
    {"operators", "Every operator by name.", MakeOperatorsTable,
     "no operators were recorded (profile --pytorch=autograd-nvtx)"},
    {"operators_by_shape", "Every operator by name and input shapes.", MakeOperatorShapesTable,
     "no sizes of inputs were recorded (profile --pytorch=autograd-shapes-nvtx; "
     "record_shapes=True)"},
    {"key_averages", "Operators with the columns of torch.profiler's key_averages().",
     MakeKeyAveragesTable, "no operators were recorded (profile --pytorch=autograd-nvtx)"},
    {"key_averages_by_shape", "The same by name and input shapes.", MakeKeyAveragesByShapeTable,
     "no sizes of inputs were recorded (profile --pytorch=autograd-shapes-nvtx; "
     "record_shapes=True)"},
    {"roofline", "Operators with the FLOPs and bytes they need, and how near the hardware's limit.",
     MakeRooflineTable,
     "no sizes of inputs were recorded (profile --pytorch=autograd-shapes-nvtx; "
     "record_shapes=True)"},
    {"memory_timeline", "Every allocation and release of GPU memory, with what it was for.",
     MakeMemoryTimelineTable,
     "no allocations were recorded (profile --cuda-memory-usage=true; profile_memory=True)"},
    {"python_functions", "Every Python function with exact counts, with the columns of cProfile.",
     MakePythonFunctionsTable, "no functions were counted (profile --python-trace=functions)"},
    {"python_lines", "Every line of chosen functions, with the columns of line_profiler.",
     MakePythonLinesTable, "no lines were counted (profile --lines=MODULE:FUNCTION)"},
    {"nvtx_ranges", "Every NVTX range by name.", MakeNvtxTable, "no NVTX ranges were recorded"},
    {"nvtx_marks", "Every NVTX mark with its domain, category, color and payload.",
     MakeNvtxMarksTable, "no NVTX marks were recorded"},
    {"gpu_parts", "What a step is made of on the GPU, idle time explained.", MakeGpuPartsTable,
     "no GPU work within steps was recorded"},
    {"gpu_steps", "Every step's window on the GPU with the time of each part.", MakeGpuStepsTable,
     "no GPU work within steps was recorded"},
    {"kernels", "Every kernel by name.", MakeKernelsTable,
     "no kernels were recorded (profile -t cuda)"},
    {"step_counters", "Hardware counters of whole steps: mean, least, most.", MakeStepCountersTable,
     "no hardware counters were read (profile --step-counters)"},
    {"step_roofline", "Operations and bytes of a step as counted, and the roof over it.",
     MakeStepRooflineTable,
     "no operations of steps were counted (profile --step-counters=roofline)"},
    {"kernel_limits", "Kernels that were measured: what bounds each, and what to do.",
     MakeKernelLimitsTable, "no kernels were measured (batchlight kernels)"},
    {"kernel_memory", "Measured kernels: bytes, bandwidth, hit rates, sectors a request.",
     MakeKernelMemoryTable, "no kernels were measured (batchlight kernels)"},
    {"kernel_occupancy", "Measured kernels: occupancy achieved and possible, waves, tail.",
     MakeKernelOccupancyTable, "no kernels were measured (batchlight kernels)"},
    {"kernel_scheduler", "Measured kernels: issue slots, and what warps wait for.",
     MakeKernelSchedulerTable, "no kernels were measured (batchlight kernels)"},
    {"kernel_roofline",
     "Measured kernels: operations and bytes as counted, and the roof over them.",
     MakeKernelRooflineTable,
     "no operations of kernels were counted (batchlight kernels --set roofline)"},
    {"kernel_counters", "Measured kernels: every hardware counter.", MakeKernelCountersTable,
     "no kernels were measured (batchlight kernels)"},
    {"gpu_metrics", "Metrics of GPUs over time: means over steps and over all.",
     MakeGpuMetricsTable, "no metrics of GPUs were sampled (profile --gpu-metrics-devices=all)"},
    {"gpu_metric_parts", "Metrics of GPUs by phase, cause of idle gaps, and kernel.",
     MakeGpuMetricPartsTable,
     "no metrics of GPUs were sampled within steps (profile --gpu-metrics-devices=all)"},
    {"copies", "Copies by kind and memory.", MakeCopiesTable,
     "no copies were recorded (profile -t cuda)"},
    {"waits", "Calls in which the CPU waits for the GPU.", MakeWaitsTable,
     "no calls that wait for the GPU were recorded"},
    {"library_calls",
     "Calls of cuBLAS, cuDNN, cuSPARSE and cuSOLVER with the kernels they launched.",
     MakeLibraryCallsTable, "no calls of CUDA's libraries were recorded (profile -t cublas,cudnn)",
     false, nullptr, StepsOf::kStore},
    {"os_calls", "Calls of the C library by name: sleeps, locks, files, sockets; counts are exact.",
     MakeOsCallsTable, "no calls of the C library were recorded (profile -t osrt)", false, nullptr,
     StepsOf::kStore},
    {"lock_waits",
     "Every thread that waited for locks or signals: where, for whom, and what that one did.",
     MakeLockWaitsTable, "no waits for locks were recorded (profile -t osrt)", false, nullptr,
     StepsOf::kStore},
    {"files", "Every file, pipe and socket that was read or written: bytes, calls, time, slowest.",
     MakeFilesTable, "no reads and writes were recorded (profile -t osrt)", false, nullptr,
     StepsOf::kNothing},
    {"samples", "Every native function that samples found threads in, with its own time and all.",
     MakeSamplesTable, "no CPU samples were recorded (profile --sample=process-tree)", false,
     WhyNoCpuSamples, StepsOf::kStore},
    {"sample_phases", "Every native function that samples found in a phase of the steps.",
     MakeSamplePhasesTable,
     "no step was found, or no CPU sample in one (profile --sample=process-tree)", false,
     WhyNoCpuSamples},
    {"sample_idle",
     "Every native function that samples found launching threads in while a GPU waited, by cause.",
     MakeSampleIdleTable,
     "no step of a GPU was found, or no CPU sample while one waited (profile "
     "--sample=process-tree)",
     false, WhyNoCpuSamples},
    {"python_samples", "Every Python function that looks from outside found threads in.",
     MakePythonSamplesTable, "Python code was not sampled (profile --python-sampling)", false,
     WhyNoPythonSamples},
    {"python_sample_lines", "Every line of Python that looks from outside found threads at.",
     MakePythonSampleLinesTable, "Python code was not sampled (profile --python-sampling)", false,
     WhyNoPythonSamples},
    {"python_phases", "Every Python function that looks found in a phase of the steps.",
     MakePythonPhasesTable,
     "no step was found, or Python code was not sampled in one (profile --python-sampling)", false,
     WhyNoPythonSamples},
    {"python_gil",
     "Every thread that waited for Python's GIL, with who had it and in what function.",
     MakePythonGilTable,
     "Python code was not sampled, so nobody knows who waited (profile --python-sampling)", false,
     WhyNoGil},
    {"sample_modules", "Every program and library that samples found threads in.",
     MakeSampleModulesTable, "no CPU samples were recorded (profile --sample=process-tree)", false,
     WhyNoCpuSamples, StepsOf::kStore},
    {"call_stacks",
     "Long calls of CUDA and of the C library by the native functions that made them.",
     MakeCallStacksTable,
     "no native stacks of calls were recorded (profile --cudabacktrace=all, -t osrt)", false,
     nullptr, StepsOf::kStore},
    {"threads", "Every thread: on a processor, ready without one, waiting, and what it waited in.",
     MakeThreadsTable,
     "neither switches nor CPU samples were recorded (profile --cpuctxsw=process-tree)", false,
     WhyNoCpuSamples, StepsOf::kNothing},
    {"process_usage",
     "Every process: processors used and allowed, memory, disks, waiting for a processor.",
     MakeProcessUsageTable, "what processes use was not recorded (batchlight profile does)"},
    {"machine_usage",
     "The machine meanwhile: processors used by the program, by others, limits, free memory.",
     MakeMachineUsageTable,
     "what the machine does was not recorded (batchlight profile does), or of several recordings"},
    {"launch_queue", "Every step's queue of launched work: latency, depth, how long it is empty.",
     MakeLaunchQueueTable, "no GPU work within steps was recorded"},
    {"ranks", "Every rank's step: compute, communication, copies, idle, waiting for other ranks.",
     MakeRanksTable, "fewer than two processes train", true},
    {"collectives", "NCCL's operations by message size: time, waiting, bandwidth.",
     MakeCollectivesTable, "no operations of NCCL were recorded"},
    {"processes", "Every process with how it ended.", MakeProcessesTable,
     "the input names no process"},
    {"losses", "What is missing from the recording and why.", MakeLossesTable,
     "nothing is missing"},
};

// What steps without detail have nothing of.
constexpr std::string_view kOfDetail[] = {
    "modules",       "attribution",
    "lines",         "lines_inside",
    "operators",     "operators_by_shape",
    "roofline",      "key_averages",
    "gpu_parts",     "key_averages_by_shape",
    "gpu_steps",     "kernels",
    "copies",        "waits",
    "library_calls", "collectives",
    "launch_queue",  "memory_timeline",
};
// Recorded throughout, with means of the steps that count.
constexpr std::string_view kOfSteps[] = {
    "figures",        "phases",        "phase_events",        "memory_lines",
    "nvtx_ranges",    "sample_phases", "sample_idle",         "gpu_metric_parts",
    "python_samples", "python_phases", "python_sample_lines", "ranks",
};

template <size_t kCount>
bool IsAmong(const std::string_view (&names)[kCount], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

template <size_t kCount>
constexpr bool AreTables(const std::string_view (&names)[kCount]) {
  return std::all_of(std::begin(names), std::end(names), [](std::string_view name) {
    return std::any_of(std::begin(kTables), std::end(kTables),
                       [name](const TableEntry& entry) { return entry.name == name; });
  });
}
static_assert(AreTables(kOfDetail) && AreTables(kOfSteps));

}  // namespace

std::span<const TableEntry> OverviewTables() { return kTables; }

ResultTable MakeTable(const TableEntry& entry, const RunOverview& overview) {
  ResultTable table = entry.make(overview);
  const DetailedSteps steps = FindDetailedSteps(overview.steps);
  if (steps.all()) return table;
  const std::string of_run = " of " + std::to_string(steps.of_run) + " steps";
  if (IsAmong(kOfDetail, entry.name)) {
    table.title += ", recorded in " + std::to_string(steps.recorded) + of_run + ", means of " +
                   std::to_string(steps.counted);
  } else if (IsAmong(kOfSteps, entry.name)) {
    table.title += ", means of " + std::to_string(steps.counted) + of_run;
  }
  return table;
}

void AddStepColumns(const TableEntry& entry, const RunOverview& overview, ResultTable* table) {
  const DetailedSteps steps = FindDetailedSteps(overview.steps);
  const bool of_detail = IsAmong(kOfDetail, entry.name);
  if (steps.all() || !(of_detail || IsAmong(kOfSteps, entry.name))) return;
  const auto add = [table](ResultColumn column, size_t count) {
    table->columns.push_back(std::move(column));
    for (auto& row : table->rows) row.push_back(NumberCell(count));
  };
  if (of_detail) {
    add(CountColumn("steps_recorded", "Steps Recorded",
                    "Steps with detail: counts and totals are of these."),
        steps.recorded);
  }
  add(CountColumn("steps_counted", "Steps Counted", "Steps that means of a step are of."),
      steps.counted);
  add(CountColumn("steps_of_run", "Steps of Run", "All steps, also those without detail."),
      steps.of_run);
}

const TableEntry* FindOverviewTable(std::string_view name) {
  for (const TableEntry& entry : kTables) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace batchlight
