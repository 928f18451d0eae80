public import Observation

/// What somebody has typed so far into a search field.
@Observable
public final class SearchField {
  /// The text.
  public var text = ""

  /// Makes an empty field.
  public init() {}
}
