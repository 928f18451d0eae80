#pragma once

/// How often memory has been asked for since the process began, on all threads.
unsigned long long malloc_counter_count(void);
