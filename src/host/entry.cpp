// The first instructions of host_query. The C library's own (crt1.o) would ask for the version of
// __libc_start_main that the build machine has, and so for its glibc; this one asks for the oldest.
#if defined(__x86_64__)
__asm__(".symver __libc_start_main, __libc_start_main@GLIBC_2.2.5");
__asm__(R"(
  .globl _start
  .type _start, @function
_start:
  xorl %ebp, %ebp
  movq %rdx, %r9          # what the loader wants called at the end
  popq %rsi               # argc
  movq %rsp, %rdx         # argv
  andq $-16, %rsp
  pushq %rax
  pushq %rsp              # end of the stack
  xorl %r8d, %r8d         # no constructors, no destructors
  xorl %ecx, %ecx
  leaq main(%rip), %rdi
  call *__libc_start_main@GOTPCREL(%rip)
  hlt
  .size _start, . - _start
)");
#elif defined(__aarch64__)
__asm__(".symver __libc_start_main, __libc_start_main@GLIBC_2.17");
__asm__(R"(
  .globl _start
  .type _start, %function
_start:
  mov x29, #0
  mov x30, #0
  mov x5, x0              // what the loader wants called at the end
  ldr x1, [sp]            // argc
  add x2, sp, #8          // argv
  mov x6, sp              // end of the stack
  mov x3, #0              // no constructors, no destructors
  mov x4, #0
  adr x0, main
  bl __libc_start_main
  brk #0
  .size _start, . - _start
)");
#else
#error "host_query has no entry for this processor"
#endif
