// Threads that allocate and free blocks that no cache of a thread takes: arena_contention ROUNDS. With one arena they wait
// for each other, with an arena for each they do not.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { blocks = 16 };

int main(int count, char** arguments) {
  const long rounds = count > 1 ? (long)atof(arguments[1]) : 100000;
  long right = 0;
#pragma omp parallel for reduction(+ : right) schedule(static)
  for (long round = 0; round < rounds; ++round) {
    char* volatile block[blocks];  // no compiler may leave malloc out
    for (int i = 0; i < blocks; ++i) {
      block[i] = malloc(2000 + (size_t)((round * blocks + i) * 7919 % 2000));
      block[i][0] = (char)i;
    }
    for (int i = 0; i < blocks; ++i) {
      right += block[i][0] == i;
      free(block[i]);
    }
  }
  puts(right == rounds * blocks ? "right" : "wrong");
  return 0;
}
