public import ApusCore

/// What a user needs in order to sign in on another device (RFC 8628 §3.3). Show it: its texts have no control or
/// direction characters, and its URLs have ASCII characters only.
public struct DevicePrompt: Sendable, SelfRedacting {
  /// The page to open on the other device.
  public let page: String
  /// The code to enter there.
  public let userCode: String
  /// The page with the code in it, for a QR code; `nil`: the server has none.
  public let completePage: String?
  /// The time for which the code is valid.
  public let lifetime: Duration

  /// The lifetime only: a reader of the code could use it.
  public var description: String { "device prompt, valid for \(lifetime.components.seconds) s" }
}
