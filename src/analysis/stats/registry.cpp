// Every report: one line in kReports. Names, titles and the words of missing data are nsys's.
#include <algorithm>
#include <array>

#include "analysis/cuda/kernel_class.h"
#include "analysis/stats/os_reports.h"
#include "analysis/stats/report_arguments.h"
#include "analysis/stats/report_functions.h"
#include "analysis/stats/stats_report.h"
#include "base/nearest.h"
#include "base/split.h"
#include "nsys/source_format.h"

namespace batchlight::stats {
namespace {

using Missing = std::string_view;
constexpr Missing kNothing;

Missing NoApi(const Store& s) { return s.api_calls.size() == 0 ? "CUDA trace data" : kNothing; }
Missing NoKernels(const Store& s) { return s.kernels.size() == 0 ? "CUDA kernel data" : kNothing; }
Missing NoGpuMemory(const Store& s) {
  return s.memcpys.size() + s.memsets.size() == 0 ? "GPU memory data" : kNothing;
}
Missing NoGpuTrace(const Store& s) {
  return s.kernels.size() + s.memcpys.size() + s.memsets.size() == 0 ? "GPU trace data" : kNothing;
}
Missing NoApiAndGpu(const Store& s) {
  return NoApi(s).empty() || NoGpuTrace(s).empty() ? kNothing : "CUDA trace data";
}
Missing NoLaunches(const Store& s) { return !NoKernels(s).empty() ? NoKernels(s) : NoApi(s); }
Missing NoNvtx(const Store& s) { return s.nvtx_ranges.size() == 0 ? kNoNvtx : kNothing; }
Missing NoNvtxKernels(const Store& s) { return !NoNvtx(s).empty() ? NoNvtx(s) : NoLaunches(s); }
Missing NoNvtxGpu(const Store& s) {
  if (!NoNvtx(s).empty()) return NoNvtx(s);
  return s.graph_launches.size() > 0 ? kNothing : NoGpuTrace(s);
}
Missing NoClass(const Store& s, EventClass event_class, Missing what) {
  const auto& classes = s.os_calls.event_class;
  return std::find(classes.begin(), classes.end(), event_class) == classes.end() ? what : kNothing;
}
Missing NoOsRuntime(const Store& s) {
  return NoClass(s, EventClass::kOsRuntime, "OS Runtime trace data");
}
Missing NoSyscalls(const Store& s) { return NoClass(s, EventClass::kSystemCall, "syscall data"); }
Missing NoFamily(const Store& s, RuntimeFamily family, Missing what) {
  const auto& families = s.runtime_events.family;
  return std::find(families.begin(), families.end(), family) == families.end() ? what : kNothing;
}
Missing NoOpenMp(const Store& s) {
  return NoFamily(s, RuntimeFamily::kOpenMp, "OpenMP event data");
}
Missing NoOpenAcc(const Store& s) {
  return NoFamily(s, RuntimeFamily::kOpenAcc, "OpenACC event data");
}
Missing NoMpi(const Store& s) { return s.mpi_events.size() == 0 ? "MPI event data" : kNothing; }
Missing NoMpiRanks(const Store& s) { return s.mpi_events.size() == 0 ? "MPI rank data" : kNothing; }
Missing NoNetwork(const Store& s) {
  return s.network_samples.size() == 0 ? "NIC or IB switch metrics" : kNothing;
}
Missing NoCpuFaults(const Store& s) {
  return s.um_cpu_faults.size() == 0 ? "CUDA Unified Memory CPU page faults data" : kNothing;
}
Missing NoUnifiedMemory(const Store& s) {
  if (s.memcpys.size() == 0) return "CUDA memory transfers data";
  if (!NoCpuFaults(s).empty()) return NoCpuFaults(s);
  return s.um_gpu_faults.size() == 0 ? "CUDA Unified Memory GPU page faults data" : kNothing;
}

// Graphics: a recording of a training program never has these.
Missing NoKhr(const Store&) { return "KHR Extension (KHR_DEBUG) data"; }
Missing NoGpuKhr(const Store&) { return "GPU KHR Extension (KHR_DEBUG) data"; }
Missing NoVulkanApi(const Store&) { return "Vulkan API trace data"; }
Missing NoVulkan(const Store&) { return "Vulkan Debug Extension (Vulkan Debug Util) data"; }
Missing NoGpuVulkan(const Store&) {
  return "GPU Vulkan Debug Extension (GPU Vulkan Debug markers) data";
}
Missing NoDx11(const Store&) { return "DX11 CPU debug markers"; }
Missing NoGpuDx12(const Store&) { return "DX12 GPU debug markers"; }
Missing NoDx12(const Store&) { return "DX12 CPU debug markers"; }
Missing NoWddm(const Store&) { return "WDDM context data"; }
Missing NoVideo(const Store&) { return "NvVideo trace data"; }
Missing NoNcclRanges(const Store& s) {
  for (const StringId name : s.nvtx_domains.name) {
    if (s.Text(name) == "NCCL") return kNothing;
  }
  return "NCCL data (NVTX domain NCCL)";
}
Missing NoNcclKernels(const Store& s) {
  for (const StringId name : s.kernels.short_name) {
    if (IsNcclKernel(s.Text(name))) return kNothing;
  }
  return "NCCL kernels";
}
Result<RowSource> Never(const Query&) { return RowSource{}; }

constexpr std::string_view kNames = "[:nvtx-name][:base|:mangled]";
constexpr std::string_view kNamesHelp =
    "nvtx-name puts the innermost NVTX range around the launch before the kernel's name; base "
    "shows the name without templates and parameters, mangled the linker's name.";

constexpr auto kReports = std::to_array<Report>({
    {"cuda_api_gpu_sum", "apigpusum cudaapigpusum", "CUDA Summary (API/Kernels/MemOps)", kNames,
     "Calls, kernels and memory operations in one list, by total time.", NoApiAndGpu,
     CudaApiGpuSum},
    {"cuda_api_sum", "cudaapisum", "CUDA API Summary", "",
     "CUDA runtime and driver calls by total time.", NoApi, CudaApiSum},
    {"cuda_api_trace", "cudaapitrace", "CUDA API Trace", "", "Every CUDA call, by start.", NoApi,
     CudaApiTrace},
    {"cuda_gpu_kern_gb_sum", "gpukerngbsum cudagpukerngbsum", "CUDA GPU Kernel/Grid/Block Summary",
     kNames, "Kernels by name, grid and block dimensions.", NoKernels, CudaGpuKernGbSum},
    {"cuda_gpu_kern_sum", "gpukernsum cudagpukernsum", "CUDA GPU Kernel Summary", kNames,
     "Kernels by total time.", NoKernels, CudaGpuKernSum},
    {"cuda_gpu_mem_size_sum", "gpumemsizesum cudagpumemsizesum",
     "CUDA GPU MemOps Summary (by Size)", "", "Copies and sets by the bytes they moved.",
     NoGpuMemory, CudaGpuMemSizeSum},
    {"cuda_gpu_mem_time_sum", "gpumemtimesum cudagpumemtimesum",
     "CUDA GPU MemOps Summary (by Time)", "", "Copies and sets by total time.", NoGpuMemory,
     CudaGpuMemTimeSum},
    {"cuda_gpu_sum", "gpusum cudagpusum", "CUDA GPU Summary (Kernels/MemOps)", kNames,
     "Kernels and memory operations by total time.", NoGpuTrace, CudaGpuSum},
    {"cuda_gpu_trace", "gputrace cudagputrace", "CUDA GPU Trace", kNames,
     "Every kernel and memory operation, by start.", NoGpuTrace, CudaGpuTrace},
    {"cuda_kern_exec_sum", "kernexecsum cudakernexecsum", "CUDA Kernel Launch & Exec Time Summary",
     kNames,
     "Launch call (A), wait in the queue (Q), execution (K) and total (T) of kernels. QCount is "
     "how many waited.",
     NoLaunches, CudaKernExecSum},
    {"cuda_kern_exec_trace", "kernexectrace cudakernexectrace",
     "CUDA Kernel Launch & Exec Time Trace", kNames,
     "The same for every kernel, by start of the call.", NoLaunches, CudaKernExecTrace},
    {"dx11_pix_sum", "dx11pixsum", "DX11 PIX Range Summary", "", "Not recorded.", NoDx11, Never},
    {"dx12_gpu_marker_sum", "dx12gpumarkersum", "DX12 GPU Command List PIX Ranges Summary", "",
     "Not recorded.", NoGpuDx12, Never},
    {"dx12_pix_sum", "dx12pixsum pixsum", "DX12 PIX Range Summary", "", "Not recorded.", NoDx12,
     Never},
    {"mpi_event_sum", "mpieventsum", "MPI Event Summary", "", "MPI calls by total time.", NoMpi,
     MpiEventSum},
    {"mpi_event_trace", "mpieventtrace", "MPI Event Trace", "", "Every MPI call, by start.",
     NoMpiRanks, MpiEventTrace},
    {"mpi_msg_size_sum", "mpimsgsizesum", "MPI Message Size Summary", "",
     "Bytes of messages by call; collectives have a line for what is sent and one for what is "
     "received.",
     NoMpi, MpiMsgSizeSum},
    {"network_congestion", "networkcongestion", "Network Devices Congestion",
     "[:ticks_threshold=<ticks_per_ms>]",
     "Times with a send wait rate above the threshold, 10000 ticks/ms if not given.", NoNetwork,
     NetworkCongestion},
    {"nvtx_gpu_proj_sum", "nvtxgpuproj nvtxgpuprojsum", "NVTX GPU Projection Summary", "",
     "NVTX ranges as the time their work took on the GPU, by name.", NoNvtxGpu, NvtxGpuProjSum},
    {"nvtx_gpu_proj_trace", "nvtxgpuprojtrace", "NVTX GPU Projection Trace", "",
     "The same for every range.", NoNvtxGpu, NvtxGpuProjTrace},
    {"nvtx_kern_sum", "nvtxkernsum", "NVTX Range Kernel Summary", "[:base|:mangled]",
     "Kernels by the NVTX ranges they were launched in; every enclosing range counts.",
     NoNvtxKernels, NvtxKernSum},
    {"nvtx_pushpop_sum", "nvtxppsum nvtxpushpopsum", "NVTX Push/Pop Range Summary", "",
     "Push/pop ranges by total time.", NoNvtx, NvtxPushPopSum},
    {"nvtx_pushpop_trace", "nvtxpptrace nvtxpushpoptrace", "NVTX Push/Pop Range Trace", "",
     "Every push/pop range with its stack, by start.", NoNvtx, NvtxPushPopTrace},
    {"nvtx_startend_sum", "nvtxsssum nvtxstartendsum", "NVTX Start/End Range Summary", "",
     "Start/end ranges by total time.", NoNvtx, NvtxStartEndSum},
    {"nvtx_sum", "nvtxsum", "NVTX Range Summary", "", "All ranges by total time.", NoNvtx, NvtxSum},
    {"nvvideo_api_sum", "nvvideoapisum", "NvVideo API Summary", "", "Not recorded.", NoVideo,
     Never},
    {"openacc_sum", "openaccsum", "OpenACC Summary", "", "OpenACC events by total time.", NoOpenAcc,
     OpenAccSum},
    {"opengl_khr_gpu_range_sum", "khrdebuggpusum openglkhrgpurangesum",
     "OpenGL KHR_debug GPU Range Summary", "", "Not recorded.", NoGpuKhr, Never},
    {"opengl_khr_range_sum", "khrdebugsum openglkhrrangesum", "OpenGL KHR_debug Range Summary", "",
     "Not recorded.", NoKhr, Never},
    {"openmp_sum", "openmpevtsum openmpsum", "OpenMP Summary", "", "OpenMP events by total time.",
     NoOpenMp, OpenMpSum},
    {"osrt_sum", "osrtsum", "OS Runtime Summary", "", "OS runtime calls by total time.",
     NoOsRuntime, OsrtSum},
    {"osrt_trace", "osrttrace", "OS Runtime Trace", "", "Every OS runtime call, by start.",
     NoOsRuntime, OsrtTrace},
    {"syscall_sum", "syscallsum", "Syscall Summary", "", "System calls by total time.", NoSyscalls,
     SyscallSum},
    {"um_cpu_page_faults_sum", "umcpupagefaults umcpupagefaultssum",
     "Unified Memory CPU Page Faults Summary", "",
     "Page faults of the CPU on unified memory, by the code that caused them.", NoCpuFaults,
     UmCpuPageFaultsSum},
    {"um_sum", "unifiedmemory umsum", "Unified Memory Analysis Summary", "[:rows=<limit>]",
     "Migrations and page faults by address; 10 rows if not given, -1 for all.", NoUnifiedMemory,
     UmSum},
    {"um_total_sum", "unifiedmemorytotals umtotalsum", "Unified Memory Totals Summary", "",
     "Migrations and page faults, all addresses together.", NoUnifiedMemory, UmTotalSum},
    {"vulkan_api_sum", "vulkanapisum", "Vulkan API Summary", "", "Not recorded.", NoVulkanApi,
     Never},
    {"vulkan_api_trace", "vulkanapitrace", "Vulkan API Trace", "", "Not recorded.", NoVulkanApi,
     Never},
    {"vulkan_gpu_marker_sum", "vulkangpumarkersum", "Vulkan GPU Range Summary", "", "Not recorded.",
     NoGpuVulkan, Never},
    {"vulkan_marker_sum", "vulkanmarkerssum vulkanmarkersum", "Vulkan Range Summary", "",
     "Not recorded.", NoVulkan, Never},
    {"wddm_queue_sum", "wddmqueuesdetails wddmqueuesum", "WDDM Queue Utilization Summary", "",
     "Not recorded.", NoWddm, Never},
    // Recipes of nsys.
    {"cuda_gpu_kern_hist", "", "CUDA GPU Kernel Duration Histogram",
     "[:kernel=<name>][:base|:mangled][:bins=<bins>]", "Kernels by how long they took.", NoKernels,
     CudaGpuKernHist, true},
    {"cuda_gpu_kern_pace", "", "CUDA GPU Kernel Pacing", "[:kernel=<name>][:base|:mangled]",
     "Every instance of one kernel, of the one with the largest total time if none is named.",
     NoKernels, CudaGpuKernPace, true},
    {"cuda_gpu_time_util_map", "", "CUDA GPU Time Utilization Heatmap", "[:bins=<bins>]",
     "How much of the time kernels ran, in 100 stretches if not given.", NoKernels,
     CudaGpuTimeUtilMap, true},
    {"nccl_gpu_overlap_trace", "", "NCCL GPU Overlap Trace", "[:base|:mangled]",
     "Every NCCL kernel with the part that other kernels of the GPU hide.", NoNcclKernels,
     NcclGpuOverlapTrace, true},
    {"nccl_gpu_proj_sum", "", "NCCL GPU Projection Summary", "",
     "NCCL calls as the time their work took on the GPU.", NoNcclRanges, NcclGpuProjSum, true},
    {"nccl_sum", "", "NCCL Summary", "", "NCCL calls by total time.", NoNcclRanges, NcclSum, true},
    {"nvtx_gpu_proj_pace", "", "NVTX GPU Projection Pacing", "[:range=<name[@domain]>]",
     "Every instance of one range as its work ran on the GPU.", NoNvtxGpu, NvtxGpuProjPace, true},
    {"nvtx_pace", "", "NVTX Pacing", "[:range=<name[@domain]>]",
     "Every instance of one range, of the one with the largest total time if none is named.",
     NoNvtx, NvtxPace, true},
});

constexpr auto kDefaults = std::to_array<std::string_view>({"nvtx_sum",
                                                            "osrt_sum",
                                                            "cuda_api_sum",
                                                            "cuda_gpu_kern_sum",
                                                            "cuda_gpu_mem_time_sum",
                                                            "cuda_gpu_mem_size_sum",
                                                            "openmp_sum",
                                                            "opengl_khr_range_sum",
                                                            "opengl_khr_gpu_range_sum",
                                                            "vulkan_marker_sum",
                                                            "vulkan_gpu_marker_sum",
                                                            "dx11_pix_sum",
                                                            "dx12_gpu_marker_sum",
                                                            "dx12_pix_sum",
                                                            "wddm_queue_sum",
                                                            "um_sum",
                                                            "um_total_sum",
                                                            "um_cpu_page_faults_sum",
                                                            "openacc_sum",
                                                            "syscall_sum"});

}  // namespace

bool Query::Has(std::string_view flag) const {
  return std::find(args.begin(), args.end(), flag) != args.end();
}

bool HasAllTables(const Store& store) { return !store.Property(nsys::kHasAllTables).empty(); }

std::span<const Report> Reports() { return kReports; }
std::span<const std::string_view> DefaultReports() { return kDefaults; }

const Report* FindReport(std::string_view name) {
  for (const Report& report : kReports) {
    if (report.name == name) return &report;
    if (name.empty()) continue;
    const std::vector<std::string_view> old_names = SplitAt(report.old_names, ' ');
    if (std::find(old_names.begin(), old_names.end(), name) != old_names.end()) return &report;
  }
  return nullptr;
}

bool ReadsRanges(const Report& report, std::span<const std::string> args) {
  return !report.name.starts_with("cuda_") ||
         std::find(args.begin(), args.end(), "nvtx-name") != args.end();
}

bool ReadsAllTime(const Report& report) {
  return report.several_inputs || report.name == "nvtx_pushpop_trace" ||
         report.name == "nvtx_gpu_proj_trace";
}

std::vector<std::string_view> NearestReports(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Report& report : kReports) names.push_back(report.name);
  for (const Report& report : kReports) {  // one who misspells an old name is shown the old name
    for (const std::string_view old_name : SplitAt(report.old_names, ' ')) {
      if (!old_name.empty()) names.push_back(old_name);
    }
  }
  return NearestFew(name, names);
}

Status CheckReportArguments(const Report& report, std::span<const std::string> args) {
  return CheckArguments("report " + std::string(report.name), report.usage, args);
}

Result<RowSource> RunReport(const Report& report, const Query& query) {
  ASSIGN_OR_RETURN(RowSource source, report.run(query));
  source.name = report.name;
  source.title = report.title;
  return source;
}

}  // namespace batchlight::stats
