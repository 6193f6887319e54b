// Where do the program's own blocks lie? Each is told by its distance from the begin of the heap, which does not depend on where that is.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[4096];

static uintptr_t begin_of_heap(void) {
  FILE* const file = fopen("/proc/self/stat", "r");
  const size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = '\0';
  const char* at = strrchr(text, ')') + 1;
  for (int field = 3; field < 47; ++field) at = strchr(at + 1, ' ');
  return strtoull(at, NULL, 10);
}

int main(int argc, char** argv) {
  const int regions = argc > 1 ? atoi(argv[1]) : 100;
  const uintptr_t begin = begin_of_heap();
  char* blocks[40];
  for (int i = 0; i < 40; ++i) blocks[i] = malloc(8u + 37u * (size_t)i);
  for (int i = 0; i < 40; i += 3) free(blocks[i]);
  for (int i = 0; i < 40; i += 3) blocks[i] = malloc(24u + 90u * (size_t)i);
  for (int i = 0; i < 40; ++i) printf("%zx\n", (size_t)((uintptr_t)blocks[i] - begin));
  double sum = 0;
  for (int round = 0; round < regions; ++round) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int i = 0; i < 3000; ++i)
      for (int k = 0; k <= i / 8; ++k) sum += 1;
  }
  printf("%g\n", sum);
  for (int i = 0; i < 40; ++i) free(blocks[i]);
  return 0;
}
