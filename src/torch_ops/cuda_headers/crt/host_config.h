#pragma once

// Which host compilers nvcc works with, in CUDA's own: of no use to us, who use no nvcc (see
// host_defines.h).
