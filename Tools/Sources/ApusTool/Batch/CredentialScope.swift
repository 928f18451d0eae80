import Apus
import Synchronization

/// The only origin that gets the credentials of `--bearer` or `--basic` in a batch.
final class CredentialScope: Sendable {
  /// The error of a line with another origin.
  struct OtherOrigin: Error, Sendable, Hashable, CustomStringConvertible {
    let own: Origin
    let asked: Origin

    var description: String {
      "the credentials are for \(own), not for \(asked), and nothing was sent: see --credentials-for"
    }
  }

  private let origin: Mutex<Origin?>

  /// - Parameter origin: the origin; `nil` for that of the first line.
  init(_ origin: Origin?) {
    self.origin = Mutex(origin)
  }

  /// Whether no line has determined the origin yet. Lines must then be noted in their order.
  var isOpen: Bool { origin.withLock { $0 == nil } }

  /// Notes a line's origin. The first one counts.
  func note(_ asked: Origin) {
    origin.withLock { $0 = $0 ?? asked }
  }

  /// Checks that the credentials may be sent to an origin.
  ///
  /// - Throws: ``OtherOrigin``
  func check(_ asked: Origin) throws(OtherOrigin) {
    guard let own = origin.withLock({ $0 }), own != asked else { return }
    throw OtherOrigin(own: own, asked: asked)
  }
}
