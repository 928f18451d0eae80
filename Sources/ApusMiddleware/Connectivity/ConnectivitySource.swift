/// Tells whether the device has a network: a seam, for what a platform knows.
///
/// What calls find out counts besides, so a source may be coarse, late or missing.
public protocol ConnectivitySource: Sendable {
  /// Begins to tell: what is so now, and each change, in order, from any thread.
  ///
  /// Called once. Nothing that `report` refers to is kept alive by it.
  func start(_ report: @escaping @Sendable (ConnectivityStatus) -> Void)

  /// Ends it. Nothing is told any more soon after.
  func stop()
}
