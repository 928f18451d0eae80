#pragma once

/// The number of allocations since the start of the process, on all threads.
unsigned long long malloc_counter_count(void);

/// The number of bytes currently allocated, on all threads.
unsigned long long malloc_counter_bytes(void);
