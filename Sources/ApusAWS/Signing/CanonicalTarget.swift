import ApusCore

/// The path and the query of a request target in the form that Signature Version 4 signs.
struct CanonicalTarget: Sendable {
  /// The path as it is sent.
  private let path: Substring.UTF8View
  private let rules: SignatureV4.PathRules
  /// The parameters, encoded and sorted.
  private let parameters: [Parameter]

  private struct Parameter: Sendable, Comparable {
    let name: [UInt8]
    let value: [UInt8]

    static func < (lhs: Parameter, rhs: Parameter) -> Bool {
      if lhs.name != rhs.name { return lhs.name.lexicographicallyPrecedes(rhs.name) }
      return lhs.value.lexicographicallyPrecedes(rhs.value)
    }
  }

  /// - Parameters:
  ///   - target: the path and the query as they are sent.
  ///   - rules: how the service interprets paths.
  init(_ target: String, _ rules: SignatureV4.PathRules) {
    let bytes = target.utf8
    let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
    (path, self.rules) = (Substring(bytes[..<mark]).utf8, rules)
    guard mark < bytes.endIndex else {
      parameters = []
      return
    }
    let items = bytes[bytes.index(after: mark)...].split(separator: UInt8(ascii: "&"))
    parameters = items.map { item in
      let sign = item.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
      return Self.parameter(
        PercentEncoding.decode(bytes: item[..<sign]), PercentEncoding.decode(bytes: item[sign...].dropFirst()))
    }.sorted()
  }

  /// Appends the signed form of the parameters.
  func append(queryTo text: inout CanonicalText) {
    for (index, parameter) in parameters.enumerated() {
      if index > 0 { text.append("&" as Unicode.Scalar) }
      text.append(verbatim: parameter.name)
      text.append("=" as Unicode.Scalar)
      text.append(verbatim: parameter.value)
    }
  }

  private static func parameter(_ name: some Sequence<UInt8>, _ value: some Sequence<UInt8>) -> Parameter {
    var (encodedName, encodedValue) = (CanonicalText(), CanonicalText())
    encodedName.append(encoding: name)
    encodedValue.append(encoding: value)
    return Parameter(name: encodedName.bytes, value: encodedValue.bytes)
  }

  /// Appends the signed form of the path.
  func append(pathTo text: inout CanonicalText) {
    guard !path.isEmpty else { return text.append("/" as Unicode.Scalar) }
    switch rules {
    case .decoded where path.contains(UInt8(ascii: "%")):
      text.append(encoding: PercentEncoding.decode(bytes: path), keepsSlashes: true)
    case .asSent(isNormalized: true) where !isNormal:
      text.append(encoding: Self.normalized(Array(path)), keepsSlashes: true)
    case .decoded, .asSent: text.append(encoding: path, keepsSlashes: true)
    }
  }

  /// Whether no segment is empty or begins with a dot.
  private var isNormal: Bool {
    var isAfterSlash = false
    for byte in path {
      if isAfterSlash, byte == UInt8(ascii: "/") || byte == UInt8(ascii: ".") { return false }
      isAfterSlash = byte == UInt8(ascii: "/")
    }
    return path.first == UInt8(ascii: "/")
  }

  /// Removes dot segments and empty segments. Unlike in RFC 3986 §5.2.4, but like in AWS's own clients, a dot segment
  /// at the end leaves no slash.
  private static func normalized(_ path: [UInt8]) -> [UInt8] {
    let slash = UInt8(ascii: "/")
    let dot = UInt8(ascii: ".")
    var segments: [ArraySlice<UInt8>] = []
    for segment in path.split(separator: slash) {
      if segment.elementsEqual([dot]) { continue }
      if segment.elementsEqual([dot, dot]) { _ = segments.popLast() } else { segments.append(segment) }
    }
    var result = segments.flatMap { [slash] + $0 }
    if result.isEmpty || path.last == slash { result.append(slash) }
    return result
  }
}
