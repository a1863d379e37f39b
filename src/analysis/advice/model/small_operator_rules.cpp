// Loops in forward that call small operators, or cells of a recurrent network, one after the other.
#include <algorithm>
#include <string>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/module_callers.h"
#include "analysis/advice/processor_wait.h"
#include "analysis/advice/rules.h"
#include "analysis/lines/code_samples.h"
#include "base/split.h"

namespace batchlight::advice {
namespace {

struct Cells {
  double per_step_ns = 0;
  double calls_per_step = 0;
  const ModuleRow* most = nullptr;  // nullptr: none in a loop
  bool in_calls = false;            // whose time step is a call of the whole model
};

double TotalNs(const ModuleRow& row) { return row.total_per_step_ns + row.backward_per_step_ns; }

const ModuleRow& RootOf(const RunMeasures& run, const ModuleRow& row) {
  const ModuleRow* root = &row;
  while (root->parent >= 0) root = &run.modules.rows[static_cast<size_t>(root->parent)];
  return *root;
}

// Of the models that a loop outside of them calls for each time step, with the loss that it calls
// there: their cells loop no more than these.
double CalledForEachTimeStepNs(const RunMeasures& run, double least_calls) {
  double ns = 0;
  for (const ModuleRow& row : run.modules.rows) {
    if (row.depth == 0 && row.calls_per_step >= least_calls) ns += TotalNs(row);
  }
  return ns;
}

// Whether the bridge saw that a cell's input is made from what it gave before: no layer can take
// the place of its loop.
bool FeedsOnItsOutput(const RunMeasures& run, std::string_view path) {
  for (std::string_view told = TrainingProperty(run, "model.cells_fed_back"); !told.empty();) {
    if (TakeLine(told) == path) return true;
  }
  return false;
}

Cells CellsInLoops(const RunMeasures& run) {
  Cells cells;
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->steady.empty()) return cells;
  const double backwards = std::max(1.0, BackwardsPerStep(run, *main));
  for (const ModuleRow& row : run.modules.rows) {
    if (row.class_name != "LSTMCell" && row.class_name != "GRUCell" &&
        row.class_name != "RNNCell") {
      continue;
    }
    const double callers =
        row.parent < 0 ? 1 : run.modules.rows[static_cast<size_t>(row.parent)].calls_per_step;
    if (row.calls_per_step < kCellCalls * std::clamp(callers, 1.0, backwards)) continue;
    if (FeedsOnItsOutput(run, row.path)) continue;
    if (cells.most == nullptr || TotalNs(row) > TotalNs(*cells.most)) cells.most = &row;
    cells.per_step_ns += TotalNs(row);
    cells.calls_per_step += row.calls_per_step;
  }
  if (cells.most == nullptr) return cells;
  const double least_calls = kCellCalls * backwards;
  cells.in_calls = RootOf(run, *cells.most).calls_per_step >= least_calls;
  if (cells.in_calls) cells.per_step_ns = CalledForEachTimeStepNs(run, least_calls);
  return cells;
}

// What nn.LSTM saves on the CPU of the time of its cells, which oneDNN computes from PyTorch 2.1 on
// in 32 bits, forward and backward on one thread: 83 % of cells of 0.18 ms, 48 % of 0.49 ms, 33 %
// of 2.5 ms. Other layers are the same operators in a loop of C++: 7 to 13 % (GRU), 0 to 37 %
// (RNN).
constexpr double kOneDnn = 0.3, kOneDnnShort = 0.55, kShortCellNs = 190'000;
constexpr double kLoopInCpp = 0.1;

double CpuGain(const RunMeasures& run, const Cells& cells) {
  if (cells.in_calls) return kCellGain;
  if (NumberProperty(run, "torch.float64_parameters") >= kDoubleShare) return kCellGain;
  if (cells.most->class_name != "LSTMCell") return kLoopInCpp;
  if (!HasPyTorch(run, 2, 1)) return kCellGain;
  const double cell_ns = cells.per_step_ns / cells.calls_per_step * (1 - ProcessorWait(run));
  return kOneDnn + kOneDnnShort * std::min(1.0, kShortCellNs / std::max(1.0, cell_ns));
}

}  // namespace

// A cell is one step of a recurrent network. Its loop in Python calls, and autograd remembers, each
// operator of each step; nn.LSTM multiplies the inputs of all steps at once and loops in C++.
void CellsInALoop(const RunMeasures& run, Findings* findings) {
  const double step_ns = MeanStepNs(run);
  const Cells cells = CellsInLoops(run);
  const auto& [cells_ns, calls, most, in_calls] = cells;
  if (step_ns <= 0 || most == nullptr || cells_ns < kCellShare * step_ns) return;
  const std::string layer = most->class_name.substr(0, most->class_name.size() - 4);  // LSTM
  const double part = run.gpu.empty() ? CpuGain(run, cells) : kCellGpuGain;
  findings->push_back(
      {.title = "`" + most->path + "` is called " + Rounded(most->calls_per_step) +
                " times a step, one time step each",
       .seen = (in_calls ? "The model, called for each time step, and its loss take "
                         : std::string("Cells take ")) +
               PercentOf(cells_ns / step_ns) + " of a step in " + Rounded(calls) +
               " calls, forward and backward.",
       .why = "Every call is several small operators, and as many again in backward.",
       .action = "Where the inputs of all time steps are known, use nn." + layer +
                 ", which takes the whole sequence in one call" +
                 (in_calls ? ", as do the layers around it and the loss" : "") +
                 "; keep the cell for steps that feed on their own output.",
       .gain_ns = cells_ns * part,
       .uncertainty_ns = cells_ns * kCellUncertainty,
       .evidence =
           {{.kind = "module", .name = most->path, .count = most->calls, .per_step_ns = cells_ns}},
       .patch = {.place = CallerOfModule(run, in_calls ? RootOf(run, *most).path : most->path),
                 .diff = "-for x in inputs.unbind(1): h, c = self.cell(x, (h, c))\n"
                         "+out, (h, c) = self." +
                         std::string(layer == "LSTM" ? "lstm" : "rnn") + "(inputs)  # nn." + layer +
                         "(..., batch_first=True)\n"}});
}

namespace {

// By which a step would be shorter with one operator for all elements: what these compute is left.
// On a GPU never to less than its other work, which recording does not make longer: shares of a
// step are those of one that is not recorded.
double GainWithoutLoopsNs(const RunMeasures& run, double loops_ns, double work_share,
                          double gpu_ns) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  if (gpu == nullptr) return loops_ns * (1 - work_share) * kSmallOperatorsGain;
  const double other_ns = std::max(0.0, gpu->busy_share * gpu->window.mean - gpu_ns);
  const double plain_ns = std::max(1.0, gpu->window.mean - LikelyRecordingNs(run));
  const double removable_ns = gpu->window.mean * std::max(0.0, 1 - other_ns / plain_ns);
  return std::min(loops_ns, removable_ns) * kSmallOperatorsGpuGain;
}

// Where the loops are; "": not known.
std::string PlaceOfLoops(const RunMeasures& run, ThreadId thread) {
  const ForwardParts& parts = run.forward_parts;
  const SampledTime sampled = CodeSamples(*run.store).During(thread, parts.loop_spans);
  const std::string where = FunctionTexts(*run.store, sampled, 1);
  if (!where.empty() || parts.loops.module.IsNone()) return where;
  return '`' + std::string(run.store->Text(parts.loops.module)) + '`';
}

std::string ActionFor(bool has_gates) {
  if (has_gates) {
    return "Gates of a recurrent layer: where the formulas are theirs, nn.LSTM or nn.GRU takes the "
           "whole sequence in one call (cuDNN on a GPU). Else multiply the inputs of all time "
           "steps "
           "by their weights at once, before the loop, and torch.compile what is left of it.";
  }
  return "Do for all elements at once what the loop does for one: stack them along a dimension and "
         "call each operator once (broadcasting, torch.vmap); where one step needs the one before, "
         "a closed form (cumsum, a convolution, one product with a matrix of weights), or only "
         "that "
         "loop stays. Or torch.compile the function.";
}

std::string DiffFor(bool has_gates) {
  if (has_gates) {
    return "-for t in range(x.shape[1]): h, c = self.step(x[:, t], h, c)\n"
           "+out, (h, c) = self.lstm(x)  # nn.LSTM(..., batch_first=True)\n";
  }
  return "-out = torch.stack([f(x[:, i]) for i in range(x.shape[1])], 1)\n"
         "+out = f(x)  # for all i at once\n";
}

}  // namespace

// Elements, positions or time steps that a loop in Python takes one by one: each operator is as
// dear as its call, in backward again.
void SmallOperators(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  const double step_ns = MeanStepNs(run);
  const ForwardParts& parts = run.forward_parts;
  if (main == nullptr || main->steady.empty() || step_ns <= 0) return;
  const Cells cells = CellsInLoops(run);
  if (cells.most != nullptr && cells.per_step_ns >= kCellShare * step_ns) return;
  const auto steps = double(main->steady.size());
  double forward_ns = 0;
  for (const TimeSpan& span : parts.loop_spans) forward_ns += double(span.end_ns - span.start_ns);
  const double backward_ns = double(parts.loops.backward_ns) * parts.backward_of_linked;
  const double loops_ns = (forward_ns + backward_ns) / steps;
  const double work_share = forward_ns > 0 ? double(parts.loop_work_ns) / forward_ns : 0;
  const double gain_ns =
      GainWithoutLoopsNs(run, loops_ns, work_share, double(parts.loops.gpu_ns) / steps);
  if (loops_ns < kSmallOperatorsShare * step_ns) return;
  if (gain_ns < kSmallOperatorsShare * kSmallOperatorsGain * step_ns) return;
  const bool on_gpu = !run.gpu.empty();
  // Calls are short on a GPU, whatever they launch: with larger kernels it has its work, as in a
  // model that is called again and again.
  if (on_gpu && double(parts.loops.gpu_ns) > kSmallKernelNs * double(parts.loop_operators)) return;
  const bool has_gates = 2 * parts.gate_operators > parts.loop_operators;
  const std::string where = PlaceOfLoops(run, main->thread);
  const std::string operators = Rounded(double(parts.loop_operators) / steps);
  const std::string share = PercentOf(loops_ns / step_ns);
  findings->push_back(
      {.title = (where.empty() ? std::string("A loop") : where) + " runs " + operators +
                " small operators a step, one after the other: " + share + " of it",
       .seen = "In forward " + operators + " operators a step follow each other, half of them " +
               "shorter than 40 µs" +
               (parts.loops.learns ? "; with their backward they take " : "; they take ") +
               TimeOf(loops_ns) + " of a step (" + share + ").",
       .why = std::string("Each works on a few numbers, and costs its call, what autograd "
                          "remembers of it, and as much again in backward.") +
              (on_gpu ? " Each launches a kernel or more, which are over before the next." : ""),
       .action = ActionFor(has_gates),
       .gain_ns = gain_ns,
       .uncertainty_ns = loops_ns * kSmallOperatorsUncertainty,
       .evidence = {{.kind = "operator",
                     .name = "in loops",
                     .count = parts.loop_operators,
                     .per_step_ns = loops_ns}},
       .patch = {.place = "", .diff = DiffFor(has_gates)}});
}

}  // namespace batchlight::advice
