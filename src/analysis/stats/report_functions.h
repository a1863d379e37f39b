// The functions behind the reports, for the table in registry.cpp.
#pragma once

#include "analysis/stats/stats_report.h"

namespace batchlight::stats {

// nvtx_summaries.cpp
Result<RowSource> NvtxSum(const Query& query);
Result<RowSource> NvtxPushPopSum(const Query& query);
Result<RowSource> NvtxStartEndSum(const Query& query);
// nvtx_trace.cpp
Result<RowSource> NvtxPushPopTrace(const Query& query);
// nvtx_projection.cpp
Result<RowSource> NvtxGpuProjSum(const Query& query);
Result<RowSource> NvtxGpuProjTrace(const Query& query);
// nvtx_kernels.cpp
Result<RowSource> NvtxKernSum(const Query& query);
// cuda_summaries.cpp
Result<RowSource> CudaApiSum(const Query& query);
Result<RowSource> CudaGpuKernSum(const Query& query);
Result<RowSource> CudaGpuKernGbSum(const Query& query);
Result<RowSource> CudaGpuMemTimeSum(const Query& query);
Result<RowSource> CudaGpuMemSizeSum(const Query& query);
Result<RowSource> CudaGpuSum(const Query& query);
Result<RowSource> CudaApiGpuSum(const Query& query);
// cuda_traces.cpp
Result<RowSource> CudaApiTrace(const Query& query);
Result<RowSource> CudaGpuTrace(const Query& query);
// kernel_executions.cpp
Result<RowSource> CudaKernExecSum(const Query& query);
Result<RowSource> CudaKernExecTrace(const Query& query);
// runtime_summaries.cpp
Result<RowSource> OsrtSum(const Query& query);
Result<RowSource> SyscallSum(const Query& query);
Result<RowSource> OpenMpSum(const Query& query);
Result<RowSource> OpenAccSum(const Query& query);
// mpi_reports.cpp
Result<RowSource> MpiEventSum(const Query& query);
Result<RowSource> MpiEventTrace(const Query& query);
Result<RowSource> MpiMsgSizeSum(const Query& query);
// um_reports.cpp
Result<RowSource> UmSum(const Query& query);
Result<RowSource> UmTotalSum(const Query& query);
Result<RowSource> UmCpuPageFaultsSum(const Query& query);
// network_reports.cpp
Result<RowSource> NetworkCongestion(const Query& query);
// recipe_reports.cpp
Result<RowSource> CudaGpuKernHist(const Query& query);
Result<RowSource> CudaGpuKernPace(const Query& query);
Result<RowSource> NvtxPace(const Query& query);
Result<RowSource> NvtxGpuProjPace(const Query& query);
Result<RowSource> CudaGpuTimeUtilMap(const Query& query);
Result<RowSource> NcclSum(const Query& query);
Result<RowSource> NcclGpuProjSum(const Query& query);
Result<RowSource> NcclGpuOverlapTrace(const Query& query);

}  // namespace batchlight::stats
