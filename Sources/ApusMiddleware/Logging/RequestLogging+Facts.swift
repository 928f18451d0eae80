public import ApusCore
import Logging

extension RequestLogging: SelfDescribing {
  /// The level of ordinary lines, and how paths are shown.
  public var facts: [Fact] {
    [.setting("level", level.rawValue), .setting("paths", showsPaths ? "as sent" : "as templates")]
  }
}
