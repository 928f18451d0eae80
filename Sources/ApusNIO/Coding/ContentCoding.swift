#if NIO
  import HTTPTypes

  /// A content coding that can be undone (RFC 9110 §8.4.1).
  enum ContentCoding: Sendable, Hashable {
    /// RFC 1952, perhaps several members one after the other.
    case gzip
    /// RFC 1950; or RFC 1951 without that around it, which some servers send under this name.
    case deflate

    /// What to offer a server (RFC 9110 §12.5.3).
    static let acceptable = "gzip, deflate"

    /// The codings of an answer's content, in the order in which they were applied; empty when there are none, or one
    /// among them is unknown: such content is handed over as it is.
    ///
    /// - Throws: ``CodingError/Kind/tooManyCodings``; the limit is on all fields together.
    static func chain(of fields: HTTPFields, limits: CodingLimits) throws(CodingError) -> [ContentCoding] {
      guard fields.contains(.contentEncoding) else { return [] }
      var chain: [ContentCoding] = []
      var count = 0
      var isKnown = true
      for value in fields[values: .contentEncoding] {
        for element in value.split(separator: ",") {
          let name = element.drop { $0 == " " || $0 == "\t" }.lowercased()
          guard let name = name.split(whereSeparator: { $0 == " " || $0 == "\t" }).first else { continue }
          count += 1
          guard count <= limits.chainLength else {
            throw CodingError(.tooManyCodings, "the content has more than \(limits.chainLength) codings")
          }
          switch name {
          case "gzip", "x-gzip": chain.append(.gzip)
          case "deflate": chain.append(.deflate)
          case "identity": break
          default: isKnown = false
          }
        }
      }
      return isKnown ? chain : []
    }
  }
#endif
