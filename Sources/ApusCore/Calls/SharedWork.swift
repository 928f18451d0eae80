/// Whether a call does work for many others, such as fetching a token: then whoever cancels many calls at once, by tag,
/// endpoint, rule or all of them, does not mean it. By its id it is cancelled like any other.
public enum SharedWorkKey: ContextKey {
  /// A call is the app's own.
  public static let defaultValue = false
}
