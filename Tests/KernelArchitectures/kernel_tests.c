// SPDX-License-Identifier: Apache-2.0
//
// Tests of the context switch and the entry stub, for every architecture. `scripts/check-kernels`
// builds them with several compilers and runs them natively and under qemu.

// MAP_ANONYMOUS is hidden under -std=c11 otherwise.
#define _GNU_SOURCE 1
#define _DARWIN_C_SOURCE 1

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "cck_context.h"
#include "cck_sanitizer.h"
#include "midway.h"

#define NOINLINE __attribute__((noinline))

// ------------------------------------------------------------------------------------------------
// Stand-ins for sanitizer.c and overflow.c, which need the rest of the kernel.

int cck_instrumented = 0;

static void unexpected(void) { abort(); }

void *cck_context_switch_instrumented(
    cck_context_t *save, cck_context_t *load, void *argument) {
  (void)save, (void)load, (void)argument;
  unexpected();
  return NULL;
}

cck_entry_t cck_sanitizer_new_context(cck_context_t *context, cck_entry_t entry) {
  (void)context;
  unexpected();
  return entry;
}

void cck_sanitizer_leave(cck_context_t *dead, cck_context_t *load) {
  (void)dead, (void)load;
  unexpected();
}

void cck_sanitizer_retire(cck_context_t *context) {
  (void)context;
  unexpected();
}

enum { stopped_with_message = 42 };

void cck_print_error(const char *text) {
  (void)text;
  _exit(stopped_with_message);
}

// ------------------------------------------------------------------------------------------------
// Checks.

static int passed;

static void check(int condition, const char *what) {
  printf("%s %s\n", condition ? "ok  " : "FAIL", what);
  fflush(stdout);
  if (!condition) exit(1);
  passed++;
}

static void skip(const char *what, const char *reason) { printf("skip %s: %s\n", what, reason); }

// ------------------------------------------------------------------------------------------------
// Coroutines: two contexts that switch to each other.
//
// What both sides access is volatile: GCC's analysis of whole files does not count a switch in a
// called function as a way to reach another function's static variables (-fno-ipa-reference does).

typedef struct coroutine {
  cck_context_t caller;
  cck_context_t self;  ///< Behind `caller`: a pair, as `cck_context_switch_to_partner` wants it.
  void *stack;
  size_t size;
} coroutine_t;

static void *stack_map(size_t size) {
  void *memory =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    perror("mmap");
    exit(1);
  }
  return memory;
}

static void coroutine_open(coroutine_t *coroutine, size_t size, cck_entry_t entry) {
  coroutine->size = size;
  coroutine->stack = stack_map(size);
  cck_context_make(
      &coroutine->self, coroutine->stack, (char *)coroutine->stack + size, entry);
}

static void coroutine_close(coroutine_t *coroutine) {
  cck_context_retire(&coroutine->self);
  munmap(coroutine->stack, coroutine->size);
}

static void *coroutine_resume(coroutine_t *coroutine, void *argument) {
  return cck_context_switch(&coroutine->caller, &coroutine->self, argument);
}

static void *coroutine_yield(coroutine_t *coroutine, void *argument) {
  return cck_context_switch(&coroutine->self, &coroutine->caller, argument);
}

_Noreturn static void coroutine_finish(coroutine_t *coroutine, void *argument) {
  cck_context_leave(&coroutine->self, &coroutine->caller, argument);
}

enum { small_stack = 64 * 1024 };

// ------------------------------------------------------------------------------------------------
// Ping-pong.

enum { ping_pong_switches = 1000000 };

static coroutine_t pong;

static void pong_entry(void *argument) {
  // A ball that is not the next one is not returned, nor is any after it.
  for (uintptr_t expected = 1;; expected++) {
    uintptr_t answer = (uintptr_t)argument == expected ? expected : 0;
    argument = coroutine_yield(&pong, (void *)answer);
  }
}

static void test_ping_pong(void) {
  coroutine_open(&pong, small_stack, pong_entry);
  uintptr_t wrong = 0;
  for (uintptr_t ball = 1; ball <= ping_pong_switches / 2; ball++) {
    wrong += (uintptr_t)coroutine_resume(&pong, (void *)ball) != ball;
  }
  coroutine_close(&pong);
  check(wrong == 0, "ping-pong: 1,000,000 switches");
}

// ------------------------------------------------------------------------------------------------
// Arguments.

static coroutine_t talker;
static void *volatile heard[3];

static void talker_entry(void *argument) {
  heard[0] = argument;
  heard[1] = coroutine_yield(&talker, (void *)UINTPTR_MAX);
  heard[2] = coroutine_yield(&talker, NULL);
  coroutine_finish(&talker, (void *)(UINTPTR_MAX / 3));
}

static void test_arguments(void) {
  int here = 0;
  coroutine_open(&talker, small_stack, talker_entry);
  void *first = coroutine_resume(&talker, &here);
  void *second = coroutine_resume(&talker, (void *)(UINTPTR_MAX - 1));
  void *third = coroutine_resume(&talker, NULL);
  check(heard[0] == &here, "arguments: the first switch's reaches the entry function");
  check(heard[1] == (void *)(UINTPTR_MAX - 1) && heard[2] == NULL, "arguments: in");
  check(first == (void *)UINTPTR_MAX && second == NULL, "arguments: out");
  check(third == (void *)(UINTPTR_MAX / 3), "arguments: out of cck_context_leave");
  coroutine_close(&talker);
}

// ------------------------------------------------------------------------------------------------
// The end.

static coroutine_t ended;

static void ended_entry(void *argument) { coroutine_finish(&ended, argument); }

static void test_resuming_after_the_end(void) {
  coroutine_open(&ended, small_stack, ended_entry);
  coroutine_resume(&ended, NULL);
  pid_t child = fork();
  if (child == 0) {
    coroutine_resume(&ended, NULL);
    _exit(0);
  }
  int status = 0;
  int seen = child > 0 && waitpid(child, &status, 0) == child;
  coroutine_close(&ended);
  check(
      seen && WIFEXITED(status) && WEXITSTATUS(status) == stopped_with_message,
      "the end: who resumes a finished context is told so");
}

// ------------------------------------------------------------------------------------------------
// Registers. `probe_integers(seed, hop)` puts seed + 1, seed + 2, … into the callee-saved integer
// registers, calls hop(), and returns a value that is not zero unless all are still there.
// `probe_floats` does the same with the callee-saved floating-point registers. Both keep what they
// were called with. `sensor_entry` is an entry function that passes the stack pointer on.

#if defined(__APPLE__)
#define SYMBOL "_"
#define BEGIN(name) ".globl " SYMBOL #name "\n" SYMBOL #name ":\n"
#elif defined(__thumb2__)
#define SYMBOL ""
#define BEGIN(name) \
  ".syntax unified\n.thumb\n.balign 4\n.globl " #name "\n.type " #name \
  ", %function\n.thumb_func\n" #name ":\n"
#elif defined(__arm__)
#define SYMBOL ""
#define BEGIN(name) \
  ".syntax unified\n.arm\n.balign 4\n.globl " #name "\n.type " #name ", %function\n" #name ":\n"
#else
#define SYMBOL ""
#define BEGIN(name) ".balign 4\n.globl " #name "\n.type " #name ", %function\n" #name ":\n"
#endif

uintptr_t probe_integers(uintptr_t seed, void (*hop)(void));
#if !defined(__x86_64__) && !defined(__i386__)
uintptr_t probe_floats(uintptr_t seed, void (*hop)(void));
#endif
void sensor_entry(void *argument);

// On i386 it takes its arguments in eax and edx.
#if defined(__i386__)
#define SENSOR_BODY __attribute__((used, noreturn, regparm(2))) void
#else
#define SENSOR_BODY __attribute__((used, noreturn)) void
#endif

SENSOR_BODY sensor_body(void *argument, uintptr_t sp);

#if defined(__x86_64__)

#define STACK_ALIGNMENT 16
#define RETURN_ADDRESS_SIZE 8
#define COMPARE(i, r) "leaq " #i "(%rdi), %rcx\n xorq %" #r ", %rcx\n orq %rcx, %rax\n"
__asm__(
    ".text\n" BEGIN(probe_integers)
    "pushq %rbx\n pushq %rbp\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
    "subq $24, %rsp\n movq %rdi, (%rsp)\n"
    "leaq 1(%rdi), %rbx\n leaq 2(%rdi), %rbp\n leaq 3(%rdi), %r12\n"
    "leaq 4(%rdi), %r13\n leaq 5(%rdi), %r14\n leaq 6(%rdi), %r15\n"
    "callq *%rsi\n"
    "movq (%rsp), %rdi\n xorl %eax, %eax\n"
    COMPARE(1, rbx) COMPARE(2, rbp) COMPARE(3, r12)
    COMPARE(4, r13) COMPARE(5, r14) COMPARE(6, r15)
    "addq $24, %rsp\n"
    "popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbp\n popq %rbx\n retq\n"
    BEGIN(sensor_entry)
    "movq %rsp, %rsi\n jmp " SYMBOL "sensor_body\n");

#elif defined(__i386__)

#define STACK_ALIGNMENT 16
#define RETURN_ADDRESS_SIZE 4
#define COMPARE(i, r) "leal " #i "(%edx), %ecx\n xorl %" #r ", %ecx\n orl %ecx, %eax\n"
__asm__(
    ".text\n" BEGIN(probe_integers)
    "movl 4(%esp), %edx\n movl 8(%esp), %ecx\n"
    "pushl %ebx\n pushl %ebp\n pushl %esi\n pushl %edi\n"
    "subl $12, %esp\n movl %edx, (%esp)\n"
    "leal 1(%edx), %ebx\n leal 2(%edx), %ebp\n leal 3(%edx), %esi\n leal 4(%edx), %edi\n"
    "call *%ecx\n"
    "movl (%esp), %edx\n xorl %eax, %eax\n"
    COMPARE(1, ebx) COMPARE(2, ebp) COMPARE(3, esi) COMPARE(4, edi)
    "addl $12, %esp\n"
    "popl %edi\n popl %esi\n popl %ebp\n popl %ebx\n ret\n"
    BEGIN(sensor_entry)
    "movl 4(%esp), %eax\n movl %esp, %edx\n jmp sensor_body\n");

#elif defined(__aarch64__)

#define STACK_ALIGNMENT 16
#define RETURN_ADDRESS_SIZE 0
#define COMPARE(i, r) "add x1, x9, #" #i "\n eor x1, x1, " #r "\n orr x0, x0, x1\n"
#define LOAD_FLOAT(i, r) "add x2, x0, #" #i "\n fmov " #r ", x2\n"
#define COMPARE_FLOAT(i, r) "fmov x2, " #r "\n" COMPARE(i, x2)
__asm__(
    ".text\n" BEGIN(probe_integers)
    "sub sp, sp, #112\n"
    "stp x29, x30, [sp]\n stp x19, x20, [sp, #16]\n stp x21, x22, [sp, #32]\n"
    "stp x23, x24, [sp, #48]\n stp x25, x26, [sp, #64]\n stp x27, x28, [sp, #80]\n"
    "str x0, [sp, #96]\n"
    "add x19, x0, #1\n add x20, x0, #2\n add x21, x0, #3\n add x22, x0, #4\n"
    "add x23, x0, #5\n add x24, x0, #6\n add x25, x0, #7\n add x26, x0, #8\n"
    "add x27, x0, #9\n add x28, x0, #10\n add x29, x0, #11\n"
    "blr x1\n"
    "ldr x9, [sp, #96]\n mov x0, #0\n"
    COMPARE(1, x19) COMPARE(2, x20) COMPARE(3, x21) COMPARE(4, x22) COMPARE(5, x23)
    COMPARE(6, x24) COMPARE(7, x25) COMPARE(8, x26) COMPARE(9, x27) COMPARE(10, x28)
    COMPARE(11, x29)
    "ldp x29, x30, [sp]\n ldp x19, x20, [sp, #16]\n ldp x21, x22, [sp, #32]\n"
    "ldp x23, x24, [sp, #48]\n ldp x25, x26, [sp, #64]\n ldp x27, x28, [sp, #80]\n"
    "add sp, sp, #112\n ret\n"
    BEGIN(probe_floats)
    "sub sp, sp, #96\n"
    "stp x29, x30, [sp]\n stp d8, d9, [sp, #16]\n stp d10, d11, [sp, #32]\n"
    "stp d12, d13, [sp, #48]\n stp d14, d15, [sp, #64]\n str x0, [sp, #80]\n"
    LOAD_FLOAT(1, d8) LOAD_FLOAT(2, d9) LOAD_FLOAT(3, d10) LOAD_FLOAT(4, d11)
    LOAD_FLOAT(5, d12) LOAD_FLOAT(6, d13) LOAD_FLOAT(7, d14) LOAD_FLOAT(8, d15)
    "blr x1\n"
    "ldr x9, [sp, #80]\n mov x0, #0\n"
    COMPARE_FLOAT(1, d8) COMPARE_FLOAT(2, d9) COMPARE_FLOAT(3, d10) COMPARE_FLOAT(4, d11)
    COMPARE_FLOAT(5, d12) COMPARE_FLOAT(6, d13) COMPARE_FLOAT(7, d14) COMPARE_FLOAT(8, d15)
    "ldp x29, x30, [sp]\n ldp d8, d9, [sp, #16]\n ldp d10, d11, [sp, #32]\n"
    "ldp d12, d13, [sp, #48]\n ldp d14, d15, [sp, #64]\n"
    "add sp, sp, #96\n ret\n"
    BEGIN(sensor_entry)
    "mov x1, sp\n b " SYMBOL "sensor_body\n");

#elif defined(__arm__)

#define STACK_ALIGNMENT 8
#define RETURN_ADDRESS_SIZE 0
#define COMPARE(i, r) "add r1, r3, #" #i "\n eor r1, r1, " #r "\n orr r0, r0, r1\n"
#define LOAD_FLOAT(i, r) "add r2, r0, #" #i "\n vmov " #r ", r2, r0\n"
#define COMPARE_FLOAT(i, r) \
  "vmov r2, r12, " #r "\n" COMPARE(i, r2) "eor r12, r12, r3\n orr r0, r0, r12\n"
__asm__(
    ".text\n" BEGIN(probe_integers)
    "push {r4-r11, lr}\n sub sp, sp, #12\n str r0, [sp]\n"
    "add r4, r0, #1\n add r5, r0, #2\n add r6, r0, #3\n add r7, r0, #4\n"
    "add r8, r0, #5\n add r9, r0, #6\n add r10, r0, #7\n add r11, r0, #8\n"
    "blx r1\n"
    "ldr r3, [sp]\n mov r0, #0\n"
    COMPARE(1, r4) COMPARE(2, r5) COMPARE(3, r6) COMPARE(4, r7)
    COMPARE(5, r8) COMPARE(6, r9) COMPARE(7, r10) COMPARE(8, r11)
    "add sp, sp, #12\n pop {r4-r11, pc}\n"
#if defined(__ARM_FP)
    BEGIN(probe_floats)
    "push {r4, lr}\n vpush {d8-d15}\n mov r4, r0\n"
    LOAD_FLOAT(1, d8) LOAD_FLOAT(2, d9) LOAD_FLOAT(3, d10) LOAD_FLOAT(4, d11)
    LOAD_FLOAT(5, d12) LOAD_FLOAT(6, d13) LOAD_FLOAT(7, d14) LOAD_FLOAT(8, d15)
    "blx r1\n"
    "mov r3, r4\n mov r0, #0\n"
    COMPARE_FLOAT(1, d8) COMPARE_FLOAT(2, d9) COMPARE_FLOAT(3, d10) COMPARE_FLOAT(4, d11)
    COMPARE_FLOAT(5, d12) COMPARE_FLOAT(6, d13) COMPARE_FLOAT(7, d14) COMPARE_FLOAT(8, d15)
    "vpop {d8-d15}\n pop {r4, pc}\n"
#endif
    BEGIN(sensor_entry)
    "mov r1, sp\n b sensor_body\n");

#elif defined(__riscv)

#define STACK_ALIGNMENT 16
#define RETURN_ADDRESS_SIZE 0
#define COMPARE(i, r) "addi t1, t0, " #i "\n xor t1, t1, " #r "\n or a0, a0, t1\n"
#define LOAD_FLOAT(i, r) "addi t1, a0, " #i "\n fmv.d.x " #r ", t1\n"
#define COMPARE_FLOAT(i, r) "fmv.x.d t2, " #r "\n" COMPARE(i, t2)
__asm__(
    ".text\n" BEGIN(probe_integers)
    "addi sp, sp, -112\n sd ra, 0(sp)\n sd a0, 8(sp)\n"
    "sd s0, 16(sp)\n sd s1, 24(sp)\n sd s2, 32(sp)\n sd s3, 40(sp)\n sd s4, 48(sp)\n"
    "sd s5, 56(sp)\n sd s6, 64(sp)\n sd s7, 72(sp)\n sd s8, 80(sp)\n sd s9, 88(sp)\n"
    "sd s10, 96(sp)\n sd s11, 104(sp)\n"
    "addi s0, a0, 1\n addi s1, a0, 2\n addi s2, a0, 3\n addi s3, a0, 4\n addi s4, a0, 5\n"
    "addi s5, a0, 6\n addi s6, a0, 7\n addi s7, a0, 8\n addi s8, a0, 9\n addi s9, a0, 10\n"
    "addi s10, a0, 11\n addi s11, a0, 12\n"
    "jalr a1\n"
    "ld t0, 8(sp)\n li a0, 0\n"
    COMPARE(1, s0) COMPARE(2, s1) COMPARE(3, s2) COMPARE(4, s3) COMPARE(5, s4) COMPARE(6, s5)
    COMPARE(7, s6) COMPARE(8, s7) COMPARE(9, s8) COMPARE(10, s9) COMPARE(11, s10)
    COMPARE(12, s11)
    "ld ra, 0(sp)\n"
    "ld s0, 16(sp)\n ld s1, 24(sp)\n ld s2, 32(sp)\n ld s3, 40(sp)\n ld s4, 48(sp)\n"
    "ld s5, 56(sp)\n ld s6, 64(sp)\n ld s7, 72(sp)\n ld s8, 80(sp)\n ld s9, 88(sp)\n"
    "ld s10, 96(sp)\n ld s11, 104(sp)\n addi sp, sp, 112\n ret\n"
    BEGIN(probe_floats)
    "addi sp, sp, -112\n sd ra, 0(sp)\n sd a0, 8(sp)\n"
    "fsd fs0, 16(sp)\n fsd fs1, 24(sp)\n fsd fs2, 32(sp)\n fsd fs3, 40(sp)\n fsd fs4, 48(sp)\n"
    "fsd fs5, 56(sp)\n fsd fs6, 64(sp)\n fsd fs7, 72(sp)\n fsd fs8, 80(sp)\n fsd fs9, 88(sp)\n"
    "fsd fs10, 96(sp)\n fsd fs11, 104(sp)\n"
    LOAD_FLOAT(1, fs0) LOAD_FLOAT(2, fs1) LOAD_FLOAT(3, fs2) LOAD_FLOAT(4, fs3)
    LOAD_FLOAT(5, fs4) LOAD_FLOAT(6, fs5) LOAD_FLOAT(7, fs6) LOAD_FLOAT(8, fs7)
    LOAD_FLOAT(9, fs8) LOAD_FLOAT(10, fs9) LOAD_FLOAT(11, fs10) LOAD_FLOAT(12, fs11)
    "jalr a1\n"
    "ld t0, 8(sp)\n li a0, 0\n"
    COMPARE_FLOAT(1, fs0) COMPARE_FLOAT(2, fs1) COMPARE_FLOAT(3, fs2) COMPARE_FLOAT(4, fs3)
    COMPARE_FLOAT(5, fs4) COMPARE_FLOAT(6, fs5) COMPARE_FLOAT(7, fs6) COMPARE_FLOAT(8, fs7)
    COMPARE_FLOAT(9, fs8) COMPARE_FLOAT(10, fs9) COMPARE_FLOAT(11, fs10)
    COMPARE_FLOAT(12, fs11)
    "ld ra, 0(sp)\n"
    "fld fs0, 16(sp)\n fld fs1, 24(sp)\n fld fs2, 32(sp)\n fld fs3, 40(sp)\n fld fs4, 48(sp)\n"
    "fld fs5, 56(sp)\n fld fs6, 64(sp)\n fld fs7, 72(sp)\n fld fs8, 80(sp)\n fld fs9, 88(sp)\n"
    "fld fs10, 96(sp)\n fld fs11, 104(sp)\n addi sp, sp, 112\n ret\n"
    BEGIN(sensor_entry)
    "mv a1, sp\n tail sensor_body\n");

#else
#error "no register probes for this architecture"
#endif

static coroutine_t prober;
static uintptr_t (*probe)(uintptr_t seed, void (*hop)(void));
static volatile uintptr_t probe_mismatches;

static const uintptr_t here_seed = (uintptr_t)0x1122334455667788;
static const uintptr_t there_seed = (uintptr_t)0xa5a5a5a5b6b6b6b0;

static NOINLINE void hop_there(void) { coroutine_resume(&prober, NULL); }
static NOINLINE void hop_here(void) { coroutine_yield(&prober, NULL); }

// Whatever this side's registers hold while it is suspended is garbage to the other side, and the
// other way round.
static void prober_entry(void *argument) {
  (void)argument;
  for (;;) probe_mismatches |= probe(there_seed, hop_here);
}

static uintptr_t run_probe(uintptr_t (*function)(uintptr_t, void (*)(void))) {
  probe = function;
  probe_mismatches = 0;
  coroutine_open(&prober, small_stack, prober_entry);
  for (uintptr_t round = 0; round < 8; round++) {
    probe_mismatches |= probe(here_seed + 16 * round, hop_there);
  }
  coroutine_close(&prober);
  return probe_mismatches;
}

static void test_integer_registers(void) {
  check(run_probe(probe_integers) == 0, "registers: callee-saved integer registers survive");
}

static void test_float_registers(void) {
#if defined(__x86_64__) || defined(__i386__)
  skip("registers: callee-saved floating-point registers", "the ABI has none");
#elif defined(__arm__) && !defined(__ARM_FP)
  skip("registers: callee-saved floating-point registers", "no floating-point unit");
#else
  check(run_probe(probe_floats) == 0, "registers: callee-saved floating-point registers survive");
#endif
}

// ------------------------------------------------------------------------------------------------
// Live values. More integers, doubles and long doubles than there are registers are computed before
// the switch and used after it, in both contexts, so that each register that the compiler wrongly
// believes to survive carries a value.

#define EACH(m) \
  m(0) m(1) m(2) m(3) m(4) m(5) m(6) m(7) m(8) m(9) m(10) m(11) m(12) m(13) m(14) m(15) m(16) \
  m(17) m(18) m(19) m(20) m(21) m(22) m(23) m(24) m(25) m(26) m(27) m(28) m(29) m(30) m(31) \
  m(32) m(33)
#define EACH_OF_SIX(m) m(0) m(1) m(2) m(3) m(4) m(5)

static coroutine_t liver;
static volatile uintptr_t integer_source = 3;
static volatile double double_source = 1.5;
static volatile long double long_double_source = 2.25L;
static volatile int live_wrong;

/// Which of the two flows of control it is, and how it switches away.
enum { here, there, there_to_partner };

// Switches away from a flow of control and comes back.
#define HOP(side) \
  ((side) == there_to_partner ? cck_context_switch_to_partner(&liver.caller, NULL) \
   : (side) == there          ? cck_context_switch_bare(&liver.self, &liver.caller, NULL) \
                              : cck_context_switch_bare(&liver.caller, &liver.self, NULL))

// The values come from a volatile variable before the switch and are compared with a second reading
// after it, so the compiler can do nothing but keep each across the switch.
#define KEEP(type, name, source, i) type name##i = source * (type)(i + 1) + seed;
#define KEEP_INTEGER(i) KEEP(uintptr_t, n, integer_source, i)
#define KEEP_DOUBLE(i) KEEP(double, d, double_source, i)
#define KEEP_LONG_DOUBLE(i) KEEP(long double, l, long_double_source, i)
#define TEST_INTEGER(i) wrong += n##i != integer_source * (uintptr_t)(i + 1) + seed;
#define TEST_DOUBLE(i) wrong += d##i != double_source * (double)(i + 1) + seed;
#define TEST_LONG_DOUBLE(i) wrong += l##i != long_double_source * (long double)(i + 1) + seed;

static NOINLINE int live_integers(int side, uintptr_t seed) {
  int wrong = 0;
  EACH(KEEP_INTEGER)
  HOP(side);
  EACH(TEST_INTEGER)
  return wrong;
}

static NOINLINE int live_doubles(int side, double seed) {
  int wrong = 0;
  EACH(KEEP_DOUBLE)
  HOP(side);
  EACH(TEST_DOUBLE)
  return wrong;
}

static NOINLINE int live_long_doubles(int side, long double seed) {
  int wrong = 0;
  EACH_OF_SIX(KEEP_LONG_DOUBLE)
  HOP(side);
  EACH_OF_SIX(TEST_LONG_DOUBLE)
  return wrong;
}

static NOINLINE int live_mixture(int side, int seed) {
  int wrong = 0;
  EACH(KEEP_INTEGER)
  EACH(KEEP_DOUBLE)
  EACH_OF_SIX(KEEP_LONG_DOUBLE)
  HOP(side);
  EACH_OF_SIX(TEST_LONG_DOUBLE)
  EACH(TEST_DOUBLE)
  EACH(TEST_INTEGER)
  return wrong;
}

enum { live_rounds = 16 };

static void liver_entry(void *argument) {
  (void)argument;
  for (int round = 0; round < live_rounds; round++) {
    int side = round % 2 == 0 ? there : there_to_partner;
    live_wrong += live_integers(side, (uintptr_t)round + 1000);
    live_wrong += live_doubles(side, round + 1000);
    live_wrong += live_long_doubles(side, round + 1000);
    live_wrong += live_mixture(side, round + 1000);
  }
  coroutine_finish(&liver, NULL);
}

static void test_live_values(void) {
  coroutine_open(&liver, small_stack, liver_entry);
  int integers = 0, doubles = 0, long_doubles = 0, mixture = 0;
  for (int round = 0; round < live_rounds; round++) {
    integers += live_integers(here, (uintptr_t)round);
    doubles += live_doubles(here, round);
    long_doubles += live_long_doubles(here, round);
    mixture += live_mixture(here, round);
  }
  coroutine_resume(&liver, NULL);
  coroutine_close(&liver);
  check(integers == 0, "live values: integers survive");
  check(doubles == 0, "live values: doubles survive");
  check(long_doubles == 0, "live values: long doubles survive");
  check(mixture == 0 && live_wrong == 0, "live values: all together, and in the other context");
}

// ------------------------------------------------------------------------------------------------
// Partners. The pair is an argument that the compiler may keep in the register that the switch says it keeps, among
// more values than there are registers, and each of several pairs has its own.

enum { partner_rounds = 1000, partners = 3 };

static coroutine_t partner[partners];
static volatile int partner_wrong;

static NOINLINE void partner_talks(cck_context_t *pair, uintptr_t rounds) {
  uintptr_t a = (uintptr_t)pair ^ 1, b = (uintptr_t)pair ^ 2, c = (uintptr_t)pair ^ 4, d = (uintptr_t)pair ^ 8;
  cck_context_t *volatile expected = pair;
  for (uintptr_t i = 0; i < rounds; i++) {
    uintptr_t heard = (uintptr_t)cck_context_switch_to_partner(pair, (void *)(i ^ (uintptr_t)pair));
    partner_wrong += heard != i + 1 || pair != expected;
    partner_wrong += (a ^ b ^ c ^ d) != 15 || a != ((uintptr_t)expected ^ 1);
  }
}

static void partner_entry(void *argument) {
  coroutine_t *own = argument;
  partner_talks(&own->caller, partner_rounds);
  coroutine_finish(own, NULL);
}

static void test_partners(void) {
  for (int k = 0; k < partners; k++) coroutine_open(&partner[k], small_stack, partner_entry);
  for (uintptr_t i = 0; i < partner_rounds; i++) {
    for (int k = 0; k < partners; k++) {
      coroutine_t *other = &partner[k];
      void *argument = i == 0 ? (void *)other : (void *)i;
      uintptr_t said = (uintptr_t)coroutine_resume(other, argument);
      partner_wrong += said != (i ^ (uintptr_t)&other->caller);
    }
  }
  for (int k = 0; k < partners; k++) {
    partner_wrong += coroutine_resume(&partner[k], (void *)(uintptr_t)partner_rounds) != NULL;
    coroutine_close(&partner[k]);
  }
  check(partner_wrong == 0, "partners: each finds its pair again, and what it kept");
}

// ------------------------------------------------------------------------------------------------
// Frames that move: a variable-length array and an over-aligned variable make the compiler address
// its locals by the frame pointer and the base pointer.

static coroutine_t mover;

static NOINLINE int moving_frame(int there, volatile size_t length, unsigned char seed) {
  _Alignas(64) volatile unsigned char aligned[64];
  volatile unsigned char array[length];
  for (size_t i = 0; i < 64; i++) aligned[i] = (unsigned char)(seed + i);
  for (size_t i = 0; i < length; i++) array[i] = (unsigned char)(seed ^ i);
  if (there) {
    cck_context_switch_bare(&mover.self, &mover.caller, NULL);
  } else {
    cck_context_switch_bare(&mover.caller, &mover.self, NULL);
  }
  int wrong = ((uintptr_t)aligned & 63) != 0;
  for (size_t i = 0; i < 64; i++) wrong += aligned[i] != (unsigned char)(seed + i);
  for (size_t i = 0; i < length; i++) wrong += array[i] != (unsigned char)(seed ^ i);
  return wrong;
}

static volatile int moving_wrong;

static void mover_entry(void *argument) {
  (void)argument;
  for (size_t length = 1; length <= 100; length++) moving_wrong += moving_frame(1, length * 7, 99);
  coroutine_finish(&mover, NULL);
}

static void test_moving_frames(void) {
  coroutine_open(&mover, small_stack, mover_entry);
  for (size_t length = 1; length <= 100; length++) moving_wrong += moving_frame(0, length * 11, 7);
  coroutine_resume(&mover, NULL);
  coroutine_close(&mover);
  check(moving_wrong == 0, "frames: variable length and over-alignment survive");
}

// ------------------------------------------------------------------------------------------------
// Deep recursion.

enum { depth = 10000 };

static coroutine_t diver;

static NOINLINE uintptr_t dive(uintptr_t level) {
  volatile uintptr_t mark = level * 2654435761u;
  uintptr_t answer = (uintptr_t)coroutine_yield(&diver, (void *)level);
  uintptr_t below = level == depth ? 0 : dive(level + 1);
  uintptr_t echo = (uintptr_t)coroutine_yield(&diver, (void *)level);
  return below + (answer == level + 7) + (echo == level + 9) + (mark == level * 2654435761u);
}

static void diver_entry(void *argument) {
  (void)argument;
  coroutine_finish(&diver, (void *)dive(1));
}

static void test_deep_recursion(void) {
  coroutine_open(&diver, 32 * 1024 * 1024, diver_entry);
  uintptr_t wrong = 0;
  uintptr_t level = (uintptr_t)coroutine_resume(&diver, NULL);
  for (uintptr_t expected = 1; expected <= depth; expected++) {
    wrong += level != expected;
    level = (uintptr_t)coroutine_resume(&diver, (void *)(expected + 7));
  }
  for (uintptr_t expected = depth; expected >= 1; expected--) {
    wrong += level != expected;
    level = (uintptr_t)coroutine_resume(&diver, (void *)(expected + 9));
  }
  coroutine_close(&diver);
  check(wrong == 0, "deep recursion: a switch on every level down and up");
  check(level == 3 * depth, "deep recursion: 10,000 frames keep their locals");
}

// ------------------------------------------------------------------------------------------------
// Many stacks.

enum { crowd_size = 1000, crowd_steps = 50 };

static coroutine_t crowd[crowd_size];

static uint32_t random_next(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

static uint32_t crowd_step(uint32_t value, uint32_t input) {
  return (value ^ input) * 16777619u + 1;
}

static void crowd_entry(void *argument) {
  coroutine_t *self = argument;
  uint32_t value = (uint32_t)(self - crowd);
  uint32_t trail[8] = {0};
  void *input = coroutine_yield(self, NULL);
  for (int step = 0; step < crowd_steps; step++) {
    value = crowd_step(value, (uint32_t)(uintptr_t)input);
    trail[step % 8] ^= value;
    if (step + 1 < crowd_steps) input = coroutine_yield(self, NULL);
  }
  for (int i = 0; i < 8; i++) value ^= trail[i];
  coroutine_finish(self, (void *)(uintptr_t)value);
}

static void test_many_stacks(void) {
  static uint16_t order[crowd_size * crowd_steps];
  static uint32_t model[crowd_size], trails[crowd_size][8];
  static int steps[crowd_size];
  for (int i = 0; i < crowd_size; i++) {
    coroutine_open(&crowd[i], small_stack, crowd_entry);
    coroutine_resume(&crowd[i], &crowd[i]);
    model[i] = (uint32_t)i;
  }
  enum { total = crowd_size * crowd_steps };
  for (int i = 0; i < total; i++) order[i] = (uint16_t)(i % crowd_size);
  uint32_t random = 42;
  for (int i = total - 1; i > 0; i--) {
    int other = (int)(random_next(&random) % (uint32_t)(i + 1));
    uint16_t swap = order[i];
    order[i] = order[other];
    order[other] = swap;
  }
  uint32_t checksum = 0, expected = 0;
  for (int i = 0; i < total; i++) {
    int who = order[i];
    uint32_t input = random_next(&random);
    uint32_t result = (uint32_t)(uintptr_t)coroutine_resume(&crowd[who], (void *)(uintptr_t)input);
    model[who] = crowd_step(model[who], input);
    trails[who][steps[who]++ % 8] ^= model[who];
    if (steps[who] < crowd_steps) continue;
    uint32_t value = model[who];
    for (int j = 0; j < 8; j++) value ^= trails[who][j];
    checksum = checksum * 31 + result;
    expected = expected * 31 + value;
  }
  for (int i = 0; i < crowd_size; i++) coroutine_close(&crowd[i]);
  check(checksum == expected, "many stacks: 1,000 interleaved in shuffled order");
}

// ------------------------------------------------------------------------------------------------
// Stack alignment at entry.

static coroutine_t sensor;
static volatile uintptr_t sensed_sp;
static volatile int sensed_argument;

SENSOR_BODY sensor_body(void *argument, uintptr_t sp) {
  sensed_sp = sp;
  sensed_argument = argument == &sensor;
  coroutine_finish(&sensor, NULL);
}

static void test_alignment(void) {
  size_t size = small_stack;
  sensor.stack = stack_map(size);
  int aligned = 1, within = 1, argument = 1;
  for (size_t offset = 0; offset < 64; offset++) {
    char *top = (char *)sensor.stack + size - offset;
    cck_context_make(&sensor.self, sensor.stack, top, sensor_entry);
    sensed_sp = 0;
    coroutine_resume(&sensor, &sensor);
    aligned &= (sensed_sp + RETURN_ADDRESS_SIZE) % STACK_ALIGNMENT == 0;
    within &= sensed_sp <= (uintptr_t)top && sensed_sp >= (uintptr_t)top - 16 * 1024;
    argument &= sensed_argument;
  }
  munmap(sensor.stack, size);
  check(aligned, "alignment: the stack is aligned at entry, whatever the top");
  check(within && argument, "alignment: the entry function starts below the top");
}

// ------------------------------------------------------------------------------------------------
// Red zone.

#if defined(__x86_64__) && defined(CCK_CONTEXT_INLINE)

static coroutine_t reddener;
static volatile int red_wrong, red_below;

// Calls nothing, so the compiler leaves the array below the stack pointer.
static NOINLINE void red_leaf(cck_context_t *save, cck_context_t *load, uintptr_t seed) {
  volatile uintptr_t zone[6];
  uintptr_t sp;
  __asm__ volatile("movq %%rsp, %0" : "=r"(sp));
  for (unsigned i = 0; i < 6; i++) zone[i] = seed + i;
  cck_context_switch_bare(save, load, NULL);
  for (unsigned i = 0; i < 6; i++) red_wrong += zone[i] != seed + i;
  red_below += (uintptr_t)&zone[0] < sp && (uintptr_t)&zone[0] >= sp - 128;
}

static void reddener_entry(void *argument) {
  (void)argument;
  for (uintptr_t i = 0; i < 100; i++) red_leaf(&reddener.self, &reddener.caller, i << 20);
  coroutine_finish(&reddener, NULL);
}

static void test_red_zone(void) {
  coroutine_open(&reddener, small_stack, reddener_entry);
  for (uintptr_t i = 0; i < 100; i++) red_leaf(&reddener.caller, &reddener.self, i << 40);
  coroutine_resume(&reddener, NULL);
  coroutine_close(&reddener);
  check(red_wrong == 0, "red zone: data below the stack pointer survives");
  if (red_below == 200) {
    check(1, "red zone: the data was there");
  } else {
    skip("red zone: the data was there", "the compiler moved the stack pointer");
  }
}

#else

static void test_red_zone(void) { skip("red zone", "only x86_64's inline switch meets one"); }

#endif

// ------------------------------------------------------------------------------------------------
// The end of the stack, for unwinders.

enum { walk_limit = 64, walk_depth = 5 };

static coroutine_t walker;
static volatile uintptr_t walk_addresses[walk_limit];
static volatile int walk_length;

static _Unwind_Reason_Code walk_visit(struct _Unwind_Context *context, void *argument) {
  (void)argument;
  uintptr_t address = (uintptr_t)_Unwind_GetIP(context);
  // Some unwinders report the end as a frame at zero.
  if (address == 0) return _URC_NO_REASON;
  if (walk_length == walk_limit) return _URC_END_OF_STACK;
  walk_addresses[walk_length++] = address;
  return _URC_NO_REASON;
}

#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__) || defined(__riscv)

static volatile int frame_walk_length, frame_walk_ended;

// Frame records: on most architectures the frame pointer points at its predecessor.
static NOINLINE void walk_frame_pointers(void) {
  uintptr_t *frame = __builtin_frame_address(0);
  uintptr_t low = (uintptr_t)walker.stack, high = low + walker.size;
  while (frame != NULL) {
    if ((uintptr_t)frame <= low || (uintptr_t)frame > high) return;
    if (++frame_walk_length == walk_limit) return;
#if defined(__riscv)
    frame = (uintptr_t *)frame[-2];
#else
    frame = (uintptr_t *)frame[0];
#endif
  }
  frame_walk_ended = 1;
}

#else

static void walk_frame_pointers(void) {}

#endif

static NOINLINE int walk_nested(volatile int level) {
  if (level > 1) return walk_nested(level - 1) + level;
  _Unwind_Backtrace(walk_visit, NULL);
  walk_frame_pointers();
  return level;
}

static volatile int walk_sum;

static void walker_entry(void *argument) {
  // A switch away and back first, so that what is walked is a resumed stack.
  argument = coroutine_yield(&walker, argument);
  walk_sum = walk_nested(walk_depth);
  coroutine_finish(&walker, argument);
}

static void test_end_of_stack(void) {
  // Whoever looks for a caller above the top finds code to go on in.
  enum { margin = 32 };
  walker.size = 256 * 1024;
  walker.stack = stack_map(walker.size);
  uintptr_t *top = (uintptr_t *)((char *)walker.stack + walker.size) - margin;
  for (int i = 0; i < margin; i++) top[i] = (uintptr_t)walk_nested + 4;
  cck_context_make(&walker.self, walker.stack, top, walker_entry);
  coroutine_resume(&walker, NULL);
  coroutine_resume(&walker, NULL);
  coroutine_close(&walker);
  // walk_nested five times, the entry function, the stub, and whatever the system adds.
  check(
      walk_length >= walk_depth && walk_length <= walk_depth + 6,
      "end of stack: _Unwind_Backtrace stops");
#if defined(CCK_CONTEXT_UCONTEXT)
  skip("end of stack: the last frame is the entry stub", "<ucontext.h> has its own");
  skip("end of stack: frame pointers end in zero", "<ucontext.h> does not promise it");
#else
  extern void cck_entry(void);
  uintptr_t last = walk_addresses[walk_length - 1];
#if defined(__arm__) && !defined(__APPLE__)
  // The unwinder does not report a frame that refuses to be unwound, so its callee is the last.
  uintptr_t function = (uintptr_t)walker_entry & ~(uintptr_t)1;
  check(
      last > function && last - function < 512,
      "end of stack: the last frame is the entry stub's callee");
#else
  uintptr_t stub = (uintptr_t)cck_entry;
  check(last > stub && last - stub < 64, "end of stack: the last frame is the entry stub");
#endif
#if defined(__arm__)
  skip("end of stack: frame pointers end in zero", "the ABI defines no frame records");
#else
  check(frame_walk_ended, "end of stack: frame pointers end in zero");
  check(
      frame_walk_length >= walk_depth && frame_walk_length <= walk_depth + 3,
      "end of stack: frame pointers have a record for each call");
#endif
#endif
}

// ------------------------------------------------------------------------------------------------
// A context that moves from thread to thread.

static coroutine_t traveller;
static volatile uintptr_t travelled;

static void traveller_entry(void *argument) {
  volatile double scale = 0.5;
  for (;;) {
    travelled += (uintptr_t)((double)(uintptr_t)argument * scale);
    argument = coroutine_yield(&traveller, (void *)travelled);
  }
}

static void *travel(void *argument) { return coroutine_resume(&traveller, argument); }

static void test_threads(void) {
  coroutine_open(&traveller, small_stack, traveller_entry);
  uintptr_t wrong = 0, expected = 0;
  for (uintptr_t i = 0; i < 20; i++) {
    pthread_t thread;
    void *result = NULL;
    if (pthread_create(&thread, NULL, travel, (void *)(i * 2)) != 0) exit(1);
    pthread_join(thread, &result);
    expected += i;
    wrong += result != (void *)expected;
  }
  coroutine_close(&traveller);
  check(wrong == 0, "threads: a context goes on wherever it is resumed");
}

// ------------------------------------------------------------------------------------------------
// A switch that a signal interrupts is known by its instructions.

static NOINLINE void *switch_somewhere(cck_context_t *save, cck_context_t *load) {
  return cck_context_switch_bare(save, load, NULL);
}

#if defined(__linux__) && defined(CCK_CONTEXT_INLINE)

static cck_context_t destination;

// Whether a program counter there, with the register in which the switch has it, is taken for one midway.
static int is_midway(uintptr_t pc) {
  static ucontext_t machine;
#if defined(__x86_64__)
  machine.uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
  machine.uc_mcontext.gregs[REG_RSI] = (greg_t)(uintptr_t)&destination;
#else
  machine.uc_mcontext.pc = pc;
  machine.uc_mcontext.regs[10] = (uintptr_t)&destination;
#endif
  const cck_context_t *next = cck_midway_to(&machine);
  if (next != NULL && next != &destination) exit(1);
  return next != NULL;
}

static void test_midway(void) {
  enum { enough = 512 };  // bytes of the function in which the switch is
  uintptr_t code = (uintptr_t)switch_somewhere, end = code + enough;
  // An instruction may begin at any byte on x86_64; the last of them, four bytes, is the jump.
  while (code < end && !is_midway(code)) code++;
  uintptr_t places = 0;
  while (is_midway(code + 4 * places)) places++;
#if defined(__x86_64__)
  int has_base = 0;
#if defined(__clang__) && __clang_major__ < 19
  has_base = 1;
#endif
  const unsigned char *jump = (const unsigned char *)code + 4 * (places - 1);
  int is_right = places == 2 + (uintptr_t)has_base && jump[0] == 0x3e && jump[1] == 0xff;
#else
  int is_right = places == 3;
#endif
  check(is_right, "midway: a switch is known from the load of its first register to its jump");
}

#else

static void test_midway(void) {
  (void)switch_somewhere;
  check(cck_midway_to("") == NULL, "midway: unwinders can be used at any time");
}

#endif

int main(void) {
  test_midway();
  test_ping_pong();
  test_arguments();
  test_resuming_after_the_end();
  test_integer_registers();
  test_float_registers();
  test_live_values();
  test_partners();
  test_moving_frames();
  test_deep_recursion();
  test_many_stacks();
  test_alignment();
  test_red_zone();
  test_end_of_stack();
  test_threads();
  printf("%d passed, 0 failed\n", passed);
  return 0;
}
