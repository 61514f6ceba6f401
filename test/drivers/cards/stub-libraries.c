/* Stands in for libcuda.so.1 and libnvidia-ml.so.1 on a machine without cards. The memory of its card is the file
 * `memory` in the folder of this library, and the file `card` there says how it behaves, a word and a number a line.
 * A process that may see the card 5e alone (CUDA_VISIBLE_DEVICES) has that one, whose memory is `memory-5e`.
 *   held N     bytes that nobody can allocate          stuck N    the 64 KiB at N keep what is in them
 *   init N     cuInit answers N                        hang 1     cuInit never comes back
 *   errors N   uncorrectable errors                    other 1    another card is at the first place
 *   late N     the byte at N is not zero any more once memory was given back
 *   clock N    kHz of the memory's clock, of which a figure of the card's throughput is made
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Above 32 bits, as addresses on a card are. */
#define BASE 0x7f1200000000ULL
#define STUCK_BYTES 65536

static char dir[4096];
static uint8_t *memory;
static uint64_t total, taken;
static int context, isCurrent, isOther;

static int64_t setting(const char *name) {
  char path[4200], word[64];
  long long number;
  int64_t found = -1;
  snprintf(path, sizeof path, "%s/card", dir);
  FILE *file = fopen(path, "r");
  while (file && fscanf(file, "%63s %lld", word, &number) == 2)
    if (!strcmp(word, name)) found = number;
  if (file) fclose(file);
  return found;
}

__attribute__((constructor)) static void open_card(void) {
  Dl_info self;
  char path[4200];
  struct stat is;
  dladdr((void *)open_card, &self);
  snprintf(dir, sizeof dir, "%s", self.dli_fname);
  *strrchr(dir, '/') = 0;
  const char *seen = getenv("CUDA_VISIBLE_DEVICES");
  isOther = seen && !strncmp(seen, "GPU-5e", 6);
  snprintf(path, sizeof path, isOther ? "%s/memory-5e" : "%s/memory", dir);
  int fd = open(path, O_RDWR);
  if (fd < 0 || fstat(fd, &is)) return;
  total = is.st_size;
  memory = mmap(0, total, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

static uint64_t usable(void) { return total - (setting("held") > 0 ? setting("held") : 0); }
static int is_inside(uint64_t at, uint64_t bytes) { return isCurrent && at >= BASE && at - BASE + bytes <= total; }

/* ---------------------------------------------------------------- CUDA driver API */
int cuInit(unsigned flags) {
  while (setting("hang") > 0) sleep(1);
  return setting("init") > 0 ? (int)setting("init") : 0;
}
int cuGetErrorName(int code, const char **name) {
  *name = code == 999 ? "CUDA_ERROR_UNKNOWN" : code == 1 ? "CUDA_ERROR_INVALID_VALUE" : 0;
  return *name ? 0 : 1;
}
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDeviceGet(int *device, int index) { *device = 7; return index != 0; }
int cuDeviceGetPCIBusId(char *text, int size, int device) {
  snprintf(text, size, isOther || setting("other") > 0 ? "0000:5E:00.0" : "0000:3B:00.0");
  return device != 7;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  *value = attribute == 36 && setting("clock") > 0 ? (int)setting("clock") : attribute == 37 ? 128 : 0;
  return device != 7;
}
int cuDevicePrimaryCtxRetain(void **place, int device) { *place = &context; return device != 7; }
int cuCtxSetCurrent(void *place) { isCurrent = place == &context; return !isCurrent; }
int cuMemGetInfo_v2(size_t *left, size_t *all) { *left = usable() - taken; *all = total; return 0; }
int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  if (taken + bytes > usable()) return 2;
  *address = BASE + taken;
  taken += bytes;
  return 0;
}
int cuMemFree_v2(uint64_t address) {
  if (setting("late") >= 0) memory[setting("late")] = 1;
  return !is_inside(address, 0);
}
int cuMemAllocHost_v2(void **place, size_t bytes) { return (*place = malloc(bytes)) ? 0 : 2; }
int cuMemsetD32_v2(uint64_t address, unsigned word, size_t count) {
  if (!is_inside(address, count * 4)) return 1;
  uint8_t kept[STUCK_BYTES];
  int64_t stuck = setting("stuck");
  if (stuck >= 0) memcpy(kept, memory + stuck, STUCK_BYTES);
  uint32_t *words = (uint32_t *)(memory + (address - BASE));
  for (size_t i = 0; i < count; i++) words[i] = word;
  if (stuck >= 0) memcpy(memory + stuck, kept, STUCK_BYTES);
  return 0;
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
  if (!is_inside(from, bytes)) return 1;
  memcpy(to, memory + (from - BASE), bytes);
  return 0;
}
/* The bytes come when the card is waited for: whoever looks at them before sees zeros. */
static struct { void *to; uint64_t from; size_t bytes; } coming[4];
static int comingCount;
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
  if (!is_inside(from, bytes) || stream || comingCount == 4) return 1;
  memset(to, 0, bytes);
  coming[comingCount].to = to;
  coming[comingCount].from = from;
  coming[comingCount++].bytes = bytes;
  return 0;
}
int cuCtxSynchronize(void) {
  for (int i = 0; i < comingCount; i++) memcpy(coming[i].to, memory + (coming[i].from - BASE), coming[i].bytes);
  comingCount = 0;
  return !isCurrent;
}
int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes) {
  if (!is_inside(from, bytes) || !is_inside(to, bytes)) return 1;
  memmove(memory + (to - BASE), memory + (from - BASE), bytes);
  return 0;
}

/* ---------------------------------------------------------------- NVML: a card that answers and one that is lost */
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } Memory;
#define IS_CARD(device) ((uint64_t)(device) == 0x7f1200000abcULL)
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
  *device = (void *)0x7f1200000abcULL;
  return index == 0 ? 0 : 15;
}
int nvmlDeviceGetUUID(void *device, char *text, unsigned size) {
  snprintf(text, size, "GPU-3b3b3b3b-0000-4000-8000-00000000003b");
  return !IS_CARD(device);
}
int nvmlDeviceGetUtilizationRates(void *device, unsigned *rates) {
  rates[0] = 73;
  rates[1] = 12;
  return !IS_CARD(device);
}
int nvmlDeviceGetMemoryInfo_v2(void *device, Memory *memory) {
  if (!IS_CARD(device) || memory->version != (sizeof(Memory) | 2 << 24)) return 25;
  memory->total = 81559ULL << 20;
  memory->reserved = 551ULL << 20;
  memory->free = 80000ULL << 20;
  memory->used = 12345;
  return 0;
}
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *c) { *c = 61; return !IS_CARD(device) || sensor; }
int nvmlDeviceGetPowerUsage(void *device, unsigned *mw) { *mw = 412600; return !IS_CARD(device); }
int nvmlDeviceGetTotalEccErrors(void *device, int kind, int counter, unsigned long long *sum) {
  *sum = kind == 1 ? (setting("errors") > 0 ? setting("errors") : 0) : 5;
  return !IS_CARD(device) || counter;
}
