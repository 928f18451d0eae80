public import ApusCore

/// The code and the pages that a user needs in order to sign in on another device (RFC 8628 §3.3). Display the code and
/// the pages: they have no control or direction characters, and the URLs have ASCII characters only.
public struct DevicePrompt: Sendable, SelfRedacting {
  /// The page to open on the other device.
  public let page: String
  /// The code to enter on that page.
  public let userCode: String
  /// The page with the code already entered, for a QR code; `nil` if the server provides none.
  public let completePage: String?
  /// The time for which the code is valid.
  public let lifetime: Duration

  /// Only the lifetime, because anyone who reads the code could use it.
  public var description: String { "device prompt, valid for \(lifetime.components.seconds) s" }
}
