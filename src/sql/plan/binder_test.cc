#include "sql/plan/binder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iostream>

#include "sql/plan/plan_test_support.h"
namespace sonde::sql {
TEST(Scratch, Asks) {
  const char* path = std::getenv("SCRATCH");
  if (path == nullptr) return;
  std::ifstream in(path);
  std::string line;
  while (std::getline(in, line)) {
    if (line.empty()) continue;
    std::string p = Planned(line, FakeOptions());
    while (!p.empty() && p.back() == '\n') p.pop_back();
    std::cout << ">> " << line << "\n" << p << "\n";
  }
}
}  // namespace sonde::sql
