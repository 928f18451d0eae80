import ApusCore
import HTTPTypes

/// The directives of `Cache-Control` in a request or a response (RFC 9111 §5.2, RFC 5861, RFC 8246), as a private cache
/// reads them.
///
/// `s-maxage` and `proxy-revalidate` are for shared caches and are ignored. Malformed and contradictory directives have
/// their most restrictive meaning: a malformed restriction applies, a malformed permission does not, and two different
/// values of `max-age` make a response stale (§4.2.1).
struct CacheControl: Hashable, Sendable {
  /// The largest number of seconds that is distinguished (RFC 9111 §1.2.2).
  static let maximumSeconds: Int64 = 1 << 31

  /// Whether the message has the field at all, even without a directive.
  private(set) var isPresent = false
  /// Whether nothing of the message may be stored.
  var noStore = false
  /// Whether a stored response must be validated before each use.
  var noCache = false
  /// The fields, in lower case, that must not be reused without validation (§5.2.2.4).
  private(set) var noCacheFields: Set<String> = []
  /// Whether a stale response must not be used, even if the server is unreachable.
  private(set) var mustRevalidate = false
  /// Whether the response may be stored only by a cache that understands its status (§5.2.2.3).
  private(set) var mustUnderstand = false
  /// Whether the response may be stored without a lifetime.
  private(set) var isPublic = false
  /// Whether only private caches may store the response.
  private(set) var isPrivate = false
  /// Whether the response does not change while it is fresh (RFC 8246 §2).
  private(set) var isImmutable = false
  /// The lifetime of a response, or the largest age that a request accepts, in seconds.
  var maxAge: Int64?
  /// The number of seconds for which a stale response is used while it is revalidated (RFC 5861 §3).
  private(set) var staleWhileRevalidate: Int64?
  /// The number of seconds for which a stale response is used in place of an error (RFC 5861 §4).
  private(set) var staleIfError: Int64?
  /// The staleness in seconds that a request accepts; `Int64.max`: any.
  var maxStale: Int64?
  /// The number of seconds for which a request needs the response to stay fresh.
  var minFresh: Int64?
  /// Whether a request must not be forwarded.
  var onlyIfCached = false

  /// Creates a value without directives.
  init() {}

  /// Reads all fields `Cache-Control` of a message.
  init(_ fields: HTTPFields) {
    for field in fields[fields: .cacheControl] { read(field) }
  }

  /// Reads one of several fields `Cache-Control`. Each field is complete: a quotation mark that is not closed has no
  /// effect on the next field.
  mutating func read(_ field: HTTPField) {
    isPresent = true
    let value = field.withUnsafeBytesOfValue { Array($0) }
    for element in FieldList.elements(of: value[...], allowsEscapes: true) {
      let name = element.prefix { FieldList.isTokenByte($0) }
      apply(Self.lowercased(name), Argument(element[name.endIndex...]))
    }
  }

  private mutating func apply(_ name: String, _ argument: Argument) {
    switch name {
    case "no-store": noStore = true
    case "no-cache": restrict(argument)
    case "must-revalidate": mustRevalidate = true
    case "must-understand": mustUnderstand = mustUnderstand || argument == .none
    case "public": isPublic = isPublic || argument == .none
    case "private": isPrivate = true
    case "immutable": isImmutable = isImmutable || argument != .malformed
    case "max-age": Self.combine(argument.seconds ?? 0, into: &maxAge)
    case "stale-while-revalidate": Self.combine(argument.seconds ?? 0, into: &staleWhileRevalidate)
    case "stale-if-error": Self.combine(argument.seconds ?? 0, into: &staleIfError)
    case "max-stale": Self.combine(argument == .none ? .max : argument.seconds ?? 0, into: &maxStale)
    case "min-fresh": minFresh = max(minFresh ?? 0, argument.seconds ?? Self.maximumSeconds)
    case "only-if-cached": onlyIfCached = true
    default: break
    }
  }

  /// Applies `no-cache`, which with field names concerns these fields only.
  private mutating func restrict(_ argument: Argument) {
    if let names = argument.fieldNames { noCacheFields.formUnion(names) } else { noCache = true }
  }

  /// Sets a number; two different numbers contradict each other and are zero.
  private static func combine(_ seconds: Int64, into value: inout Int64?) {
    value = value ?? seconds == seconds ? seconds : 0
  }

  private static func lowercased(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes.map(\.asciiLowercased), as: UTF8.self)
  }
}

extension CacheControl {
  /// The part of a directive after its name.
  private enum Argument: Equatable {
    case none
    case value([UInt8])
    case malformed

    /// Reads the rest of a directive. Spaces around `=` are malformed (RFC 9111 §5.2).
    init(_ rest: ArraySlice<UInt8>) {
      guard let first = rest.first else {
        self = .none
        return
      }
      let text = rest.dropFirst()
      guard first == UInt8(ascii: "=") else {
        self = .malformed
        return
      }
      if text.first == FieldList.quote {
        self = FieldList.unquoted(text).map { .value($0) } ?? .malformed
      } else {
        self = !text.isEmpty && text.allSatisfy(FieldList.isTokenByte) ? .value(Array(text)) : .malformed
      }
    }

    /// The number of seconds (RFC 9111 §1.2.2), or `nil` if the argument is no number.
    var seconds: Int64? {
      guard case .value(let bytes) = self else { return nil }
      return CacheControl.seconds(bytes)
    }

    /// The names of fields in lower case, or `nil` if the argument is no list of names.
    var fieldNames: Set<String>? {
      guard case .value(let bytes) = self else { return nil }
      let names = FieldList.elements(of: bytes[...], allowsEscapes: false)
      guard !names.isEmpty, names.allSatisfy({ $0.allSatisfy(FieldList.isTokenByte) }) else { return nil }
      return Set(names.map { CacheControl.lowercased($0) })
    }
  }

  /// Returns a number of seconds, which consists of digits only (RFC 9111 §1.2.2). Larger numbers than
  /// ``maximumSeconds`` are equal to it. `nil` for any other text.
  static func seconds(_ digits: some Collection<UInt8>) -> Int64? {
    guard !digits.isEmpty else { return nil }
    var seconds: Int64 = 0
    for byte in digits {
      guard byte.isDigit else { return nil }
      seconds = min(seconds * 10 + Int64(byte - UInt8(ascii: "0")), maximumSeconds)
    }
    return seconds
  }
}
