// SPDX-License-Identifier: Apache-2.0
//
// Reads which functions a loaded library calls out of what the dynamic linker has made of its imports.
#include "calls.h"

#include <dlfcn.h>
#include <string.h>

#include "CCoroutinesBlockingCalls.h"

#if defined(__GLIBC__)

#include <elf.h>
#include <link.h>

typedef struct known {
  const char *name;
  const void *ours;  ///< NULL if it is not taken over.
} known_t;

// Calls that can block and that are not taken over. Those of stdio, and all that look up names or users,
// read and wait inside libc, where nobody sees it.
static const char *const others[] = {
    "fgets", "fread", "fgetc", "getc", "getline", "getdelim", "fscanf", "fopen", "fopen64", "fflush",
    "fclose", "popen", "pclose", "system", "getnameinfo", "gethostbyname", "gethostbyname_r",
    "gethostbyname2", "gethostbyaddr", "gethostbyaddr_r", "getpwuid_r", "getpwnam_r", "res_query",
    "res_nquery", "res_search", "sigwait", "sigwaitinfo", "sigtimedwait", "sigsuspend", "pause",
    "pthread_join", "pthread_cond_wait", "pthread_cond_timedwait", "pthread_mutex_lock",
    "pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "sem_wait", "sem_timedwait", "lockf", "lockf64",
    "sendfile", "sendfile64", "splice", "open", "open64", "openat", "openat64", "msgrcv", "msgsnd",
    "semop", "mq_receive", "mq_send", "epoll_pwait2", "preadv2", "pwritev2", "msync", "sync", "syncfs",
    "aio_suspend", "__fgets_chk", "__fread_chk", "__isoc99_fscanf", "syscall",
};

static known_t known(const char *name) {
#define CBC_KNOWN(call)                                                                            \
  if (strcmp(name, #call) == 0) return (known_t){#call, (const void *)(uintptr_t)&call};
  CBC_CALLS(CBC_KNOWN)
#undef CBC_KNOWN
  for (size_t index = 0; index < sizeof(others) / sizeof(others[0]); index++) {
    if (strcmp(name, others[index]) == 0) return (known_t){others[index], NULL};
  }
  return (known_t){NULL, NULL};
}

typedef struct search {
  const char *library;
  char *path;
  long capacity;
  void *context;
  cbc_import_visitor visitor;
  int found;
  struct dl_phdr_info info;
} search_t;

static int is_named(const char *path, const char *library) {
  if (*library == 0) return 0;
  if (strcmp(path, library) == 0) return 1;
  const char *last = strrchr(path, '/');
  last = last == NULL ? path : last + 1;
  size_t length = strlen(library);
  if (strncmp(last, library, length) != 0) return 0;
  // "libpq" is the beginning of libpq.so.5, but not of libpqxx.so.
  return last[length] == 0 || last[length] == '.' || last[length] == '-';
}

typedef struct dynamic {
  ElfW(Addr) base;
  const ElfW(Sym) * symbols;
  const char *names;
  const ElfW(Rela) * tables[2];
  size_t counts[2];
} dynamic_t;

static const void *at(ElfW(Addr) base, ElfW(Addr) address) {
  // glibc has added the base already, other C libraries may not have.
  return (const void *)(address < base ? base + address : address);
}

static int read_dynamic(const struct dl_phdr_info *info, dynamic_t *dynamic) {
  const ElfW(Dyn) *entry = NULL;
  for (int index = 0; index < info->dlpi_phnum; index++) {
    if (info->dlpi_phdr[index].p_type == PT_DYNAMIC) {
      entry = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[index].p_vaddr);
    }
  }
  if (entry == NULL) return 0;
  *dynamic = (dynamic_t){.base = info->dlpi_addr};
  for (; entry->d_tag != DT_NULL; entry++) {
    ElfW(Addr) base = info->dlpi_addr;
    switch (entry->d_tag) {
      case DT_SYMTAB: dynamic->symbols = at(base, entry->d_un.d_ptr); break;
      case DT_STRTAB: dynamic->names = at(base, entry->d_un.d_ptr); break;
      case DT_JMPREL: dynamic->tables[0] = at(base, entry->d_un.d_ptr); break;
      case DT_PLTRELSZ: dynamic->counts[0] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
      case DT_RELA: dynamic->tables[1] = at(base, entry->d_un.d_ptr); break;
      case DT_RELASZ: dynamic->counts[1] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
      // Only the older 32-bit systems have the other kind of table.
      case DT_PLTREL:
        if (entry->d_un.d_val != DT_RELA) return 0;
        break;
      default: break;
    }
  }
  return dynamic->symbols != NULL && dynamic->names != NULL;
}

static int is_inside(const struct dl_phdr_info *info, uintptr_t address) {
  for (int index = 0; index < info->dlpi_phnum; index++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[index];
    uintptr_t start = info->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_LOAD && address >= start && address < start + part->p_memsz) return 1;
  }
  return 0;
}

// Where an import leads: to what the linker has written for it, or, as long as that is the stub that looks
// it up at the first call, to what it will find.
static int leads_to_us(const struct dl_phdr_info *info, uintptr_t slot, known_t call) {
  uintptr_t target = *(const uintptr_t *)slot;
  if (target == (uintptr_t)call.ours) return 1;
  if (target != 0 && !is_inside(info, target)) return 0;
  return dlsym(RTLD_DEFAULT, call.name) == call.ours;
}

static void visit_imports(
    const struct dl_phdr_info *info, const dynamic_t *dynamic, const search_t *search) {
  for (int table = 0; table < 2; table++) {
    for (size_t index = 0; index < dynamic->counts[table]; index++) {
      const ElfW(Rela) *relocation = &dynamic->tables[table][index];
#if __SIZEOF_POINTER__ == 8
      size_t number = ELF64_R_SYM(relocation->r_info);
#else
      size_t number = ELF32_R_SYM(relocation->r_info);
#endif
      if (number == 0) continue;
      const ElfW(Sym) *symbol = &dynamic->symbols[number];
      if (symbol->st_shndx != SHN_UNDEF) continue;
      known_t call = known(dynamic->names + symbol->st_name);
      if (call.name == NULL) continue;
      cbc_import_kind_t kind = CBC_IMPORT_UNKNOWN;
      if (call.ours != NULL) {
        uintptr_t slot = dynamic->base + relocation->r_offset;
        kind = leads_to_us(info, slot, call) ? CBC_IMPORT_OURS : CBC_IMPORT_ELSEWHERE;
      }
      search->visitor(search->context, call.name, kind);
    }
  }
}

// Calls inside a library to its own functions go past everybody: libc is such a one.
static void visit_own(const struct dl_phdr_info *info, void *library, const search_t *search) {
#define CBC_VISIT_OWN(call)                                                                        \
  {                                                                                                \
    void *own = dlsym(library, #call);                                                             \
    if (own != NULL && own != (void *)(uintptr_t)&call && is_inside(info, (uintptr_t)own)) {       \
      search->visitor(search->context, #call, CBC_IMPORT_OWN);                                     \
    }                                                                                              \
  }
  CBC_CALLS(CBC_VISIT_OWN)
#undef CBC_VISIT_OWN
}

static int note_library(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  search_t *search = context;
  if (info->dlpi_name == NULL || !is_named(info->dlpi_name, search->library)) return 0;
  search->found = 1;
  search->info = *info;
  strncpy(search->path, info->dlpi_name, (size_t)search->capacity - 1);
  search->path[search->capacity - 1] = 0;
  return 1;
}

int cbc_coverage_visit(
    const char *library, char *path, long capacity, void *context, cbc_import_visitor visitor) {
  search_t search = {
      .library = library,
      .path = path,
      .capacity = capacity,
      .context = context,
      .visitor = visitor};
  dl_iterate_phdr(note_library, &search);
  if (!search.found) return 0;
  // Looked at after the iteration, which holds a lock of the linker's, and kept from going away.
  void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == NULL) return 0;
  dynamic_t dynamic;
  int result = read_dynamic(&search.info, &dynamic) ? 1 : -1;
  if (result > 0) {
    visit_imports(&search.info, &dynamic, &search);
    visit_own(&search.info, handle, &search);
  }
  dlclose(handle);
  return result;
}

#else

int cbc_coverage_visit(
    const char *library, char *path, long capacity, void *context, cbc_import_visitor visitor) {
  (void)library, (void)path, (void)capacity, (void)context, (void)visitor;
  return -1;
}

#endif

int cbc_symbol_at(
    const void *address, const char **file, const char **symbol, uintptr_t *offset) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || info.dli_fname == NULL) return 0;
  *file = info.dli_fname;
  *symbol = info.dli_sname;
  const void *start = info.dli_sname != NULL ? info.dli_saddr : info.dli_fbase;
  *offset = (uintptr_t)address - (uintptr_t)start;
  return 1;
}
