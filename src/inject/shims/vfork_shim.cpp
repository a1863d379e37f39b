// vfork returns twice, and the child runs in its parent's memory while the parent sleeps: it would
// overwrite a frame of ours and write into its parent's recording. So the return address is kept
// beside the stack, and while the thread is such a child, t_vforks turns all shims off.
//
// Elsewhere than on x86-64 there is no such shim: the child's calls then count as its parent's.
#include "inject/shims/next.h"

#if defined(__x86_64__)

using namespace batchlight::inject::shims;

namespace {

constexpr uint32_t kMostVforks = 8;  // a child of vfork may do the same
__thread uintptr_t t_return_addresses[kMostVforks];

}  // namespace

extern "C" {

BATCHLIGHT_HIDDEN void* batchlight_next_vfork() { return FindNext(OsCall::k_vfork); }

// Whether there is room for one more.
BATCHLIGHT_HIDDEN int batchlight_vfork_begins(uintptr_t return_address) {
  if (t_vforks == kMostVforks) return 0;
  if (On()) g_api->count(OsCall::k_vfork);
  t_return_addresses[t_vforks++] = return_address;
  return 1;
}

// In the child (0), then in the parent.
BATCHLIGHT_HIDDEN uintptr_t batchlight_vfork_returns(long result) {
  const uintptr_t address = t_return_addresses[t_vforks - 1];
  if (result != 0) --t_vforks;
  return address;
}

// On entry the stack is 8 bytes off a multiple of 16, and the return address on top of it.
__asm__(
    ".pushsection .text\n"
    ".globl vfork\n"
    ".type vfork, @function\n"
    "vfork:\n"
    "  subq $8, %rsp\n"
    "  movq 8(%rsp), %rdi\n"
    "  call batchlight_vfork_begins\n"
    "  movl %eax, (%rsp)\n"
    "  call batchlight_next_vfork\n"
    "  movl (%rsp), %ecx\n"
    "  addq $8, %rsp\n"
    "  testl %ecx, %ecx\n"
    "  jz 1f\n"
    "  addq $8, %rsp\n"  // the return address is kept; as if the caller had called it
    "  call *%rax\n"
    "  subq $8, %rsp\n"
    "  pushq %rax\n"
    "  movq %rax, %rdi\n"
    "  call batchlight_vfork_returns\n"
    "  movq %rax, 8(%rsp)\n"
    "  popq %rax\n"
    "  ret\n"
    "1:\n"
    "  jmp *%rax\n"
    ".size vfork, . - vfork\n"
    ".popsection\n");
}

#endif
