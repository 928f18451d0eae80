// `scripts/samples` writes a file for each sample of the documentation into Generated/, which is not committed. Without
// these files the target consists of this file alone.
