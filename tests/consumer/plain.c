/* The same header from C. */
#include <stdio.h>
#include <trimtab.h>

int main(void) {
  const uint32_t work = trimtab_subject("plain work");
  for (int i = 0; i < 10; i++) {
    trimtab_begin(work);
    trimtab_end(work);
  }
  puts(work != 0 ? "watched" : "not watched");
  return 0;
}
