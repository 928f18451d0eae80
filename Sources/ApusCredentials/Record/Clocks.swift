#if Credentials
  import ApusCore

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  /// The time as a store of credentials sees it: a clock that goes on over a restart and can be set, and one that cannot.
  struct Clocks: Sendable {
    var clock: any MonotonicClock
    var date: @Sendable () -> Date

    /// Seconds since 1970 by the wall clock.
    var wall: Double { date().timeIntervalSince1970 }
  }
#endif
