module sonde/tests/series/tsbs

go 1.21

// TSBS (the Time Series Benchmark Suite): its generator and its loaders, as clients that nobody here wrote.

require github.com/timescale/tsbs v0.0.0-20230921131859-37fced794d56
