// `scripts/samples` writes a file for each guide of the documentation into Generated/, which is not committed. Without
// these files the target consists of this file alone.
