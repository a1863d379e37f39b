/* The C interface of libbatchlight_inject.so for code that runs in the same process but is built
 * elsewhere: torch_ops (compiled against the user's PyTorch, anew when this file changes). */
#ifndef BATCHLIGHT_NATIVE_API_H_
#define BATCHLIGHT_NATIVE_API_H_

/* NOLINTBEGIN(modernize-*): C */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BATCHLIGHT_NATIVE_API_VERSION 2

typedef struct batchlight_native_api_t {
  uint32_t version;    /* BATCHLIGHT_NATIVE_API_VERSION of the library */
  uint32_t size_bytes; /* sizeof of the library's struct: later members may be absent */

  /* 1 while events are being collected; a relaxed load. */
  int (*collecting)(void);

  /* An operator starts and ends on the calling thread. `name` is terminated and need not live on;
   * it is cheapest where it was the last time. `sequence` is -1 for none. `shapes` is the binary
   * key described under OpBegin in FORMAT.md, or NULL.
   * op_begin returns 1 if the operator was recorded: call op_end only then. */
  int (*op_begin)(const char* name, int64_t sequence, uint32_t scope, uint32_t forward_thread,
                  const void* shapes, size_t shapes_bytes);
  void (*op_end)(void);

  /* Says once, in the recording, why a feature is off or incomplete. */
  void (*reason)(const char* feature, const char* text);

  /* `changed` is called with 0 when collection ends and 1 when it begins again, by threads of the
   * program. Never in a session that records without interruption. */
  void (*watch)(void (*changed)(int collecting));

  /* PyTorch's caching allocator gave the calling thread a block of a GPU's memory; it has it back.
   */
  void (*gpu_block_allocated)(uint32_t device, uint64_t address, uint64_t bytes);
  void (*gpu_block_freed)(uint64_t address);
} batchlight_native_api_t;

/* Exported by the library; NULL when recording is off in this process. */
const batchlight_native_api_t* batchlight_native_api(void);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-*) */
#endif /* BATCHLIGHT_NATIVE_API_H_ */
