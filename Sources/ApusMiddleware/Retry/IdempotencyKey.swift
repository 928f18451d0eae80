public import ApusCore

/// A key by which a server knows that several messages are one call, and acts once.
///
/// It is the same on all attempts of a call and another one for each call, unless the app gives it, which it does where
/// one call may follow another, for example after a restart. It is a secret like a credential: it does not go along to
/// another origin, and no text shows it.
public struct IdempotencyKey: Sendable, Hashable {
  /// How a key is written.
  public enum Form: Sendable, Hashable {
    /// As it is.
    case bare
    /// In quotation marks, as a structured field (RFC 9651 §3.3.3) has it.
    case quoted
  }

  /// The app's own key; `nil`: one is made for each call.
  let value: String?
  let form: Form
  let field: String

  /// A key for each call: 122 random bits, written bare as a UUID (RFC 9562 §5.4).
  public static let minted = IdempotencyKey()

  /// Makes a key.
  ///
  /// - Parameters:
  ///   - value: the key; what cannot stand in a field makes calls fail with `invalidRequest`. Default: `nil`, one is
  ///     made for each call.
  ///   - form: how it is written. Default: bare.
  ///   - field: the field that has it. Default: `Idempotency-Key`.
  public init(_ value: String? = nil, form: Form = .bare, field: String = IdempotencyKey.standardField) {
    self.value = value
    self.form = form
    self.field = field
  }

  /// `Idempotency-Key`
  public static let standardField = "Idempotency-Key"

  /// The field of one call.
  func rawField(_ random: () -> UInt64) -> RawField {
    let text = value ?? Self.uuid(random)
    return RawField(field, form == .bare ? text : Self.quoted(text), isSensitive: true)
  }

  private static func quoted(_ text: String) -> String {
    let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
    var bytes = [quote]
    // Byte by byte: with a mark behind it, a quote is no character of its own, but ends the string all the same.
    for byte in text.utf8 {
      if byte == quote || byte == backslash { bytes.append(backslash) }
      bytes.append(byte)
    }
    return String(decoding: bytes + [quote], as: UTF8.self)
  }

  /// Random but for version and variant.
  private static func uuid(_ random: () -> UInt64) -> String {
    let high = (random() & 0xFFFF_FFFF_FFFF_0FFF) | 0x4000
    let low = (random() & 0x3FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000
    let digits = Array(hexadecimal(high) + hexadecimal(low))
    return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
  }

  private static func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

extension IdempotencyKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The name of its field.
  public var description: String { field }
  /// The same as ``description``.
  public var debugDescription: String { description }
  /// Shows ``description`` alone.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

enum IdempotencyKeyKey: ContextKey {
  /// Calls carry none of the client's.
  static let defaultValue: IdempotencyKey? = nil
}

extension Endpoint {
  /// Gives calls of this endpoint an idempotency key, so that they can be tried again whatever their method. A key that
  /// the call has as a field already stays.
  ///
  /// It is set by ``Retry``, also where nothing is tried again.
  public func idempotencyKey(_ key: IdempotencyKey = .minted) -> Request<Value> {
    let keyed = setting(IdempotencyKeyKey.self, key)
    return key.field == IdempotencyKey.standardField ? keyed : keyed.setting(IdempotencyFieldKey.self, key.field)
  }
}
