// The system's SQLite, as a module.
#include <sqlite3.h>
