// ThreadSanitizer's search for deadlocks ends a program at the 65th lock that a thread holds, and a write of
// many rows holds one for each (table/row_turns.h): programs with `table` go without that search, but not
// without the rest.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_options() {  // NOLINT: its name
  return "detect_deadlocks=0";
}
