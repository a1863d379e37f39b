// nvcc -arch=sm_90 -lineinfo -cubin -o scale.cubin scale.cu
__global__ void scale(float* x, const float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float a = y[i];
    x[i] = a * 2.0f + x[i];
  }
}
__global__ void sines(float* x) { x[threadIdx.x] = __sinf(x[threadIdx.x]); }
