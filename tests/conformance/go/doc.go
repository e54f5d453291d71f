// Package conformance holds what the official Go client must see from a Bigtable server.
//
// The server under test is the one that BIGTABLE_EMULATOR_HOST names.  Every test works in an instance of its own,
// which needs no creation, so tests neither see nor wait for each other.  Tests that stop and start a server
// start their own from SONDE_BINARY and are skipped where it is not set.
package conformance
