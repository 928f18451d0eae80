import Apus

/// A public key that a host must show, as `[HOST=]HASH` says it.
struct Pin: Sendable, Hashable {
  /// The host; `nil` for the one of the URL.
  var host: String?
  /// SHA-256 of the subject public key info, in Base64.
  var key: String

  init(_ text: String) {
    // The hash itself ends with the sign.
    var rest = text
    if let (name, hash) = text.splitAtFirst("="), !hash.isEmpty { (host, rest) = (name, hash) }
    for prefix in ["sha256//", "sha256/"] where rest.utf8.starts(with: prefix.utf8) {
      rest = String(Substring(rest.utf8.dropFirst(prefix.utf8.count)))
      break
    }
    key = rest
  }

  /// The pins of each host, as transports take them.
  ///
  /// - Parameters:
  ///   - pins: any number for any hosts.
  ///   - standard: the host of pins that name none.
  /// - Throws: ``PlanError``
  static func hosts(_ pins: [Pin], standard: String?) throws(PlanError) -> [PinnedHost] {
    var keys: [String: [String]] = [:]
    for pin in pins {
      guard let host = pin.host ?? standard else { throw PlanError("Here a pin needs its host: --pin HOST=HASH.") }
      keys[host.lowercased(), default: []].append(pin.key)
    }
    do {
      // Apps must name a key in reserve. A command is not locked out for long: nobody has the key of this one.
      return try keys.sorted { $0.key < $1.key }.map { try PinnedHost($0.key, keys: $0.value, backup: [nobodysKey()]) }
    } catch {
      throw PlanError("A pin must be the SHA-256 of a public key, in Base64, for a host: \(error).")
    }
  }

  private static func nobodysKey() -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    // 43 digits and a sign: 32 bytes, when the last digit's two low bits are zero.
    let digits = (0..<42).map { _ in alphabet[Int.random(in: 0..<64)] } + [alphabet[Int.random(in: 0..<16) * 4]]
    return String(digits) + "="
  }
}
