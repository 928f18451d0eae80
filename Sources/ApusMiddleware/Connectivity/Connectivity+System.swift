extension Connectivity {
  /// With what this platform knows: Apple's systems tell of every change; elsewhere it is known from calls alone.
  public static func system() -> Connectivity {
    #if canImport(Network)
      return Connectivity(PathMonitorSource())
    #else
      return Connectivity()
    #endif
  }
}
