// The C++ library counts the references of exceptions in code that was not compiled for ThreadSanitizer, so who reads an
// exception that another thread frees later looks like a race. The last owner destroys it from std::exception_ptr.
#if defined(__SANITIZE_THREAD__)
extern "C" const char* __tsan_default_suppressions() {
  return "race:std::__exception_ptr::exception_ptr::_M_release\n"
         "race:std::runtime_error::~runtime_error\n"
         "race:std::logic_error::~logic_error\n";
}
#endif
