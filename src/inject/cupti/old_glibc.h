// glibc 2.34 moved these functions into libc.so.6 under a new version; the old version still exists
// there and is the only one on older systems, where a program may lack the library that has them:
// hence weak. A program that uses CUDA has them all. Include in every file that calls one.
#pragma once

#include <dlfcn.h>
#include <pthread.h>

#if defined(__x86_64__) && defined(__GLIBC__)
#define BATCHLIGHT_FIRST_GLIBC "GLIBC_2.2.5"
#elif defined(__aarch64__) && defined(__GLIBC__)
#define BATCHLIGHT_FIRST_GLIBC "GLIBC_2.17"
#endif
#ifdef BATCHLIGHT_FIRST_GLIBC
__asm__(".symver dlopen, dlopen@" BATCHLIGHT_FIRST_GLIBC);
__asm__(".symver dlsym, dlsym@" BATCHLIGHT_FIRST_GLIBC);
__asm__(".symver dladdr, dladdr@" BATCHLIGHT_FIRST_GLIBC);
__asm__(".symver pthread_create, pthread_create@" BATCHLIGHT_FIRST_GLIBC);
#endif
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dladdr
#pragma weak pthread_create
