/* What begin + end of a subject of the program's own costs: scope COUNT BATCHES prints ns. */
#include "batches.h"
#include "trimtab.h"

static uint32_t subject;

static void begin_end(long count) {
  for (long i = 0; i < count; ++i) {
    trimtab_begin(subject);
    __asm__ volatile("" ::: "memory");
    trimtab_end(subject);
  }
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s COUNT BATCHES\n", argv[0]);
    return 2;
  }
  subject = trimtab_subject("benchmark");
  time_batches(begin_end, whole_number(argv[0], "COUNT", argv[1], 100000000),
               (int)whole_number(argv[0], "BATCHES", argv[2], most_batches));
  return 0;
}
