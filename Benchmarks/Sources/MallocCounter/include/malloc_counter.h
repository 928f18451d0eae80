#pragma once

/// How often memory has been asked for since the process began, on all threads.
unsigned long long malloc_counter_count(void);

/// How many bytes are handed out at present, on all threads.
unsigned long long malloc_counter_bytes(void);
