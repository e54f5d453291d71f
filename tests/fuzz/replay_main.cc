// Runs a fuzz target without a fuzzer: on every file of its corpus, then on random mutations of them, so many
// or as many as kReplaySeconds of CPU time allow: three minutes for all targets.  The same seed gives the same
// ones. usage: PROGRAM CORPUS_DIRECTORY [MUTATIONS [SEED]] Ends with the target's abort at the first input
// that it does not take; the input is then in failed-input in the working directory.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "target.h"

namespace sonde {
namespace {

constexpr double kReplaySeconds = 6;
constexpr uint64_t kMutationsPerLook = 64;  // at the clock
constexpr size_t kInputBytesMax = 4096;

std::string current_input;

void KeepInput(int signal_number) {
  std::ofstream("failed-input", std::ios::binary) << current_input;
  std::cerr << "signal " << signal_number << "; the input is in failed-input\n";
  _exit(1);
}

void RunTarget(std::string input) {
  current_input = std::move(input);
  (void)LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(current_input.data()), current_input.size());
}

std::vector<std::string> ReadCorpus(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> paths;
  for (const auto& file : std::filesystem::directory_iterator(directory)) paths.push_back(file.path());
  std::sort(paths.begin(), paths.end());  // so that a seed means the same everywhere
  std::vector<std::string> inputs;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

std::string Mutate(const std::vector<std::string>& corpus, RandomSource* random) {
  std::string input = corpus[random->Uniform(corpus.size())];
  for (uint64_t count = 1 + random->Uniform(4); count > 0; --count) {
    const size_t at = random->Uniform(input.size() + 1);
    switch (random->Uniform(5)) {
      case 0:
        if (at < input.size()) input[at] = static_cast<char>(random->Uniform(256));
        break;
      case 1:
        if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << random->Uniform(8)));
        break;
      case 2:
        input.insert(at, 1 + random->Uniform(8), static_cast<char>(random->Uniform(256)));
        break;
      case 3:
        input.erase(at, 1 + random->Uniform(8));
        break;
      default: {
        const std::string& other = corpus[random->Uniform(corpus.size())];
        const size_t from = random->Uniform(other.size() + 1);
        input.insert(at, other.substr(from, 1 + random->Uniform(64)));
      }
    }
  }
  input.resize(std::min(input.size(), kInputBytesMax));
  return input;
}

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

int Replay(const std::string& directory, std::optional<uint64_t> mutations_count, uint64_t seed) {
  const std::vector<std::string> corpus = ReadCorpus(directory);
  if (corpus.empty()) {
    std::cerr << directory << " holds no input\n";
    return 1;
  }
  signal(SIGABRT, KeepInput);
  signal(SIGSEGV, KeepInput);
  for (const std::string& input : corpus) RunTarget(input);
  SeededRandom random(seed);
  uint64_t done = 0;
  const auto goes_on = [&] {
    if (mutations_count.has_value()) return done < *mutations_count;
    return done % kMutationsPerLook != 0 || CpuSeconds() < kReplaySeconds;
  };
  for (; goes_on(); ++done) RunTarget(Mutate(corpus, &random));
  std::cout << corpus.size() << " inputs and " << done << " mutations of them, seed " << seed << '\n';
  return 0;
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    std::cerr << "usage: " << argv[0] << " CORPUS_DIRECTORY [MUTATIONS [SEED]]\n";
    return 2;
  }
  std::optional<uint64_t> mutations_count;
  if (argc > 2) mutations_count = std::strtoull(argv[2], nullptr, 10);
  return sonde::Replay(argv[1], mutations_count, argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
}
