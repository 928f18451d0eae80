// The system's zlib, as a module.
#include <zlib.h>
