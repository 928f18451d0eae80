import Apus
import Synchronization

/// The only origin that gets the credentials of `--bearer` or `--basic` in a batch.
final class CredentialScope: Sendable {
  /// The error of a line with another origin.
  struct OtherOrigin: Error, Sendable, Hashable, CustomStringConvertible {
    let own: Origin
    let requested: Origin

    var description: String {
      "the credentials are for \(own), not for \(requested), and nothing was sent: see --credentials-for"
    }
  }

  private let origin: Mutex<Origin?>

  /// - Parameter origin: the origin; `nil` for the origin of the first line.
  init(_ origin: Origin?) {
    self.origin = Mutex(origin)
  }

  /// Whether no line has determined the origin yet. The origins of lines must then be recorded in order.
  var isOpen: Bool { origin.withLock { $0 == nil } }

  /// Records a line's origin. Only the first origin is stored.
  func record(_ requested: Origin) {
    origin.withLock { $0 = $0 ?? requested }
  }

  /// Checks that the credentials may be sent to an origin.
  ///
  /// - Throws: ``OtherOrigin``
  func check(_ requested: Origin) throws(OtherOrigin) {
    guard let own = origin.withLock({ $0 }), own != requested else { return }
    throw OtherOrigin(own: own, requested: requested)
  }
}
