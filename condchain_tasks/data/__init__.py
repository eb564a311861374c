"""From a benchmark's files to the rows that the harness reads."""
