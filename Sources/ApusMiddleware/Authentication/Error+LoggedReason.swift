import ApusCore

extension Error {
  /// What a call's error may say of it: its own words where it promises that they hold no secrets, else its type.
  var loggedReason: String {
    (self as? any LoggableError)?.description ?? "\(type(of: self))"
  }
}
