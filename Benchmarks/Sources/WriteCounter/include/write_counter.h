#pragma once

/// The number of system calls that wrote to files and sockets since the start of the process, on all threads. The calls
/// that wake an event loop are not counted.
unsigned long long write_counter_count(void);
