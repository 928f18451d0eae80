public import ApusCore

/// An idempotency key: a server that receives several messages with the same key acts only once.
///
/// The key is the same for all attempts of a call, and different for each call unless the app sets it, for example to
/// repeat a call after a restart. The key is a secret like a credential: it is not sent to another origin on a
/// redirect, and is masked in logs and descriptions.
public struct IdempotencyKey: Sendable, Hashable {
  /// The app's own key; `nil`: a new key for each call.
  let value: String?
  let isQuoted: Bool
  let field: String

  /// A new key for each call: 122 random bits, written as a UUID (RFC 9562 §5.4) without quotation marks.
  public static let generated = IdempotencyKey()

  /// Creates a key.
  ///
  /// - Parameters:
  ///   - value: the key; a value that is invalid in a field makes calls fail with `invalidRequest`. Default: `nil`, a
  ///     new key for each call.
  ///   - isQuoted: whether the key is written in quotation marks, as a string of a structured field (RFC 9651 §3.3.3).
  ///     Default: `false`.
  ///   - field: the name of the field. Default: `Idempotency-Key`.
  public init(_ value: String? = nil, isQuoted: Bool = false, field: String = "Idempotency-Key") {
    self.value = value
    self.isQuoted = isQuoted
    self.field = field
  }

  /// The standard field, `Idempotency-Key`.
  static let standardField = "Idempotency-Key"

  /// Returns the field of a call.
  func rawField(_ random: () -> UInt64) -> RawField {
    let text = value ?? Self.uuid(random)
    return RawField(field, isQuoted ? Self.quoted(text) : text, isSensitive: true)
  }

  private static func quoted(_ text: String) -> String {
    let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
    var bytes = [quote]
    // Processed as bytes, because a quotation mark with a combining mark is one `Character`, but still ends the string.
    for byte in text.utf8 {
      if byte == quote || byte == backslash { bytes.append(backslash) }
      bytes.append(byte)
    }
    return String(decoding: bytes + [quote], as: UTF8.self)
  }

  /// Returns a random UUID, version 4.
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

extension IdempotencyKey: CustomStringConvertible, CustomReflectable {
  /// The name of the field.
  public var description: String { field }
  /// Contains only ``description``.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

enum IdempotencyKeyKey: ContextKey {
  /// `nil`: no key.
  static let defaultValue: IdempotencyKey? = nil
}

extension Endpoint {
  /// Adds an idempotency key to calls of this endpoint, so that they can be retried regardless of their method. If the
  /// request already has the field, its value is not replaced. The field is added even if the policy permits no
  /// retries.
  public func idempotencyKey(_ key: IdempotencyKey = .generated) -> Request<Value> {
    let keyed = setting(IdempotencyKeyKey.self, key)
    return key.field == IdempotencyKey.standardField ? keyed : keyed.setting(IdempotencyFieldKey.self, key.field)
  }
}
