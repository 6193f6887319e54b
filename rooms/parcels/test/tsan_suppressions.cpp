// The C++ library counts the references of exceptions in code that was not compiled for ThreadSanitizer, so who reads an
// exception that another thread frees later looks like a race.
#if defined(__SANITIZE_THREAD__)
extern "C" const char* __tsan_default_suppressions() { return "race:std::__exception_ptr::exception_ptr::_M_release\n"; }
#endif
