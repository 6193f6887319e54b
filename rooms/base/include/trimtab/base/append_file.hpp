// Text behind a file's end, as a whole or with its beginning only, where there is no room. The file is closed in between:
// the program may close or count its descriptors. Of a thread whose signals are held (SIGXFSZ). errno stays what it was.
#pragma once

#include <string_view>

namespace trimtab::base {

// Makes the file, for this user only, if there is none; follows no link. 0, or what errno calls the mistake.
int append_file(const char* path, std::string_view text) noexcept;

}  // namespace trimtab::base
