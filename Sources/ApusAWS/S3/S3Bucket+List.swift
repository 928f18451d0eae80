public import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A page of a list of objects.
public struct S3Page: Sendable, Hashable {
  /// The objects, in the order of the server: at AWS, in the byte order of their keys.
  public let objects: [S3ObjectInfo]
  /// The common prefixes of the keys that contain the delimiter. These keys themselves are omitted.
  public let prefixes: [String]
  /// The position of the next page. `nil` after the last page.
  let next: S3ListPosition?
}

extension S3Bucket {
  /// Returns the objects of the bucket, page by page.
  ///
  /// ```swift
  /// let films = S3(api, region: "eu-central-1", credentials: credentials).bucket("films")
  /// for try await page in films.list(prefix: "2026/") {
  ///   for film in page.objects { print(film.key, film.size ?? 0) }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - prefix: the text with which keys begin. Default: empty, all keys.
  ///   - delimiter: the text, usually `/`, that ends a folder. For keys that contain it after the prefix, only the part
  ///     up to the delimiter is listed, in ``S3Page/prefixes``. Default: `nil`, all keys are listed.
  ///   - key: the key after which the list begins. Default: `nil`, the list begins with the first key.
  ///   - pageSize: the maximum number of objects and prefixes of a page, from 1 to 1,000. Default: 1,000.
  /// - Returns: a sequence. Each page is a call, made when the loop requests the page. A list with 100 consecutive
  ///   pages, or 20,000 pages in total, that have neither objects nor prefixes ends with an error with the code
  ///   `decoding`.
  public func list(
    prefix: String = "", delimiter: String? = nil, after key: String? = nil, pageSize: Int = 1000
  ) -> PageSequence<S3Page> {
    var parameters = [
      S3Route.Parameter("list-type", "2"), .init("encoding-type", "url"), .init("max-keys", "\(pageSize)"),
    ]
    if !prefix.isEmpty { parameters.append(.init("prefix", prefix)) }
    if let delimiter { parameters.append(.init("delimiter", delimiter)) }
    if let key { parameters.append(.init("start-after", key)) }
    return client.pages(
      of: { [self, parameters] (position: S3ListPosition?) in
        let token = position.map { [S3Route.Parameter("continuation-token", $0.token)] } ?? []
        let mapping = ResponseMapping<S3Page> { try S3Page($0.data, after: position) }
        var route = route(nil, parameters + token)
        route.success = .document
        return request(.get, route, mapping: mapping).contentLimit(XMLReader.Limits().bytes)
      }, next: .cursor { $0.next }
    ).pageLimit(.max)
  }
}

extension S3Page {
  /// Parses a `ListBucketResult`.
  ///
  /// - Parameter position: the position of the page. Default: `nil`, the first page.
  init(_ content: Data, after position: S3ListPosition? = nil) throws {
    let tree = try XMLReader.read(content)
    guard tree.name == "ListBucketResult" else { throw XMLFailure.missing("ListBucketResult") }
    let isEncoded = tree.text(of: "EncodingType") == "url"
    objects = try tree.all("Contents").map { try S3ObjectInfo(listed: $0, isEncoded: isEncoded) }
    prefixes = tree.all("CommonPrefixes").compactMap { $0.text(of: "Prefix") }.map {
      Self.key($0, isEncoded: isEncoded)
    }
    let isTruncated = tree.text(of: "IsTruncated") == "true"
    guard isTruncated else {
      next = nil
      return
    }
    guard let token = tree.text(of: "NextContinuationToken"), !token.isEmpty else {
      throw XMLFailure.missing("NextContinuationToken")
    }
    next = try S3ListPosition(token, after: position, isEmpty: objects.isEmpty && prefixes.isEmpty)
  }

  /// Returns the decoded key. Servers use the encoding of forms, where a space may be `+`.
  static func key(_ text: String, isEncoded: Bool) -> String {
    guard isEncoded else { return text }
    let space = text.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
    return String(decoding: PercentEncoding.decode(bytes: space), as: UTF8.self)
  }
}
