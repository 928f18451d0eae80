extension Connectivity {
  /// Creates an instance with the source of this platform: `NWPathMonitor` on Apple platforms, no source on other
  /// platforms.
  public static func system() -> Connectivity {
    #if canImport(Network)
    return Connectivity(PathMonitorSource())
    #else
    return Connectivity()
    #endif
  }
}
