// `scripts/samples` writes a file for each guide of the documentation into Generated/, which is not committed. This file
// keeps the target building where it has not run.
