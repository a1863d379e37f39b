/* Included before everything else in every file of the injected library (CMakeLists.txt), so that
 * one binary runs on old and new systems alike. glibc 2.34 merged libpthread and libdl into
 * libc.so.6 and gave their functions a new version; the old version is still there, and is the only
 * one on older systems. There, a program that links neither libpthread nor libdl has none of them:
 * hence weak, and what runs in every process (attach, thread exit) looks whether they exist. So are
 * those that musl lacks: its loader would end a program that was started with our LD_PRELOAD. */
#pragma once

#ifndef BATCHLIGHT_ANY_GLIBC /* for tests, which run where they are built */
#if defined(__x86_64__)
#define BATCHLIGHT_OLD_VERSION(name) __asm__(".symver " #name ", " #name "@GLIBC_2.2.5")
#define BATCHLIGHT_SETNAME_VERSION "GLIBC_2.12"
#elif defined(__aarch64__)
#define BATCHLIGHT_OLD_VERSION(name) __asm__(".symver " #name ", " #name "@GLIBC_2.17")
#define BATCHLIGHT_SETNAME_VERSION "GLIBC_2.17"
#endif
#endif

#ifdef BATCHLIGHT_OLD_VERSION
BATCHLIGHT_OLD_VERSION(dladdr);
BATCHLIGHT_OLD_VERSION(dlopen);
BATCHLIGHT_OLD_VERSION(dlsym);
BATCHLIGHT_OLD_VERSION(dlvsym);
BATCHLIGHT_OLD_VERSION(pthread_attr_setstacksize);
BATCHLIGHT_OLD_VERSION(pthread_create);
BATCHLIGHT_OLD_VERSION(pthread_key_create);
BATCHLIGHT_OLD_VERSION(pthread_setspecific);
BATCHLIGHT_OLD_VERSION(pthread_sigmask);
__asm__(".symver pthread_setname_np, pthread_setname_np@" BATCHLIGHT_SETNAME_VERSION);
#endif

#pragma weak dladdr
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlvsym
#pragma weak pthread_attr_setstacksize
#pragma weak pthread_create
#pragma weak pthread_key_create
#pragma weak pthread_setname_np
#pragma weak pthread_setspecific
#pragma weak pthread_sigmask
#pragma weak on_exit
#pragma weak __register_atfork
