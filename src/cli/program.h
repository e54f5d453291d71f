// The program `sonde`: its command line, with all commands.
#pragma once

namespace sonde {

// Runs the command that the arguments of main() name.  Returns what the program ends with: 0 done, 1 failed
// or done in part, or its output could not be written, 2 the call was wrong.
int RunProgram(int argc, char** argv);

}  // namespace sonde
