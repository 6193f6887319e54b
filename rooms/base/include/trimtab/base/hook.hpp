// A function of ours in the place of one that the program calls by that name.
#pragma once

#define TRIMTAB_HOOK extern "C" __attribute__((visibility("default")))
