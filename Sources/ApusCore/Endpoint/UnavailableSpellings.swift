import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Spellings that developers who know other libraries try first. These spellings do not compile; the compiler shows a
// message that suggests the right spelling. They are not part of the API.

extension Endpoint {
  /// POST takes its content as `content:`.
  @available(*, unavailable, message: "pass the content as `content:`, for example `content: .json(value)`")
  public static func post<V>(_ path: RequestPath, query: Query = [:], body: some Any) -> Self
  where Self == Request<V> {
    Request(method: .post, path: path, query: query, mapping: .unavailable)
  }

  /// POST takes its content as `content:`.
  @available(*, unavailable, message: "pass the content as `content:`, for example `content: .json(value)`")
  public static func post(_ path: RequestPath, query: Query = [:], body: some Any) -> Self
  where Self == Request<Void> {
    Request(method: .post, path: path, query: query, mapping: .unavailable)
  }

  /// POST takes its content as `content:`.
  @available(*, unavailable, message: "pass the content as `content:`, for example `content: .json(value)`")
  public static func post<V>(_ path: RequestPath, query: Query = [:], json: some Any) -> Self
  where Self == Request<V> {
    Request(method: .post, path: path, query: query, mapping: .unavailable)
  }

  /// POST takes its content as `content:`.
  @available(*, unavailable, message: "pass the content as `content:`, for example `content: .json(value)`")
  public static func post(_ path: RequestPath, query: Query = [:], json: some Any) -> Self
  where Self == Request<Void> {
    Request(method: .post, path: path, query: query, mapping: .unavailable)
  }

  /// PUT takes its content as `content:`.
  @available(*, unavailable, message: "pass the content as `content:`, for example `content: .json(value)`")
  public static func put<V>(_ path: RequestPath, query: Query = [:], body: some Any) -> Self
  where Self == Request<V> {
    Request(method: .put, path: path, query: query, mapping: .unavailable)
  }

  /// PUT takes its content as `content:`.
  @available(*, unavailable, message: "pass the content as `content:`, for example `content: .json(value)`")
  public static func put(_ path: RequestPath, query: Query = [:], body: some Any) -> Self
  where Self == Request<Void> {
    Request(method: .put, path: path, query: query, mapping: .unavailable)
  }

  /// PUT takes its content as `content:`.
  @available(*, unavailable, message: "pass the content as `content:`, for example `content: .json(value)`")
  public static func put<V>(_ path: RequestPath, query: Query = [:], json: some Any) -> Self
  where Self == Request<V> {
    Request(method: .put, path: path, query: query, mapping: .unavailable)
  }

  /// PUT takes its content as `content:`.
  @available(*, unavailable, message: "pass the content as `content:`, for example `content: .json(value)`")
  public static func put(_ path: RequestPath, query: Query = [:], json: some Any) -> Self
  where Self == Request<Void> {
    Request(method: .put, path: path, query: query, mapping: .unavailable)
  }

  /// PATCH takes its content as `content:`.
  @available(*, unavailable, message: "pass the content as `content:`, for example `content: .json(value)`")
  public static func patch<V>(_ path: RequestPath, query: Query = [:], body: some Any) -> Self
  where Self == Request<V> {
    Request(method: .patch, path: path, query: query, mapping: .unavailable)
  }

  /// PATCH takes its content as `content:`.
  @available(*, unavailable, message: "pass the content as `content:`, for example `content: .json(value)`")
  public static func patch(_ path: RequestPath, query: Query = [:], body: some Any) -> Self
  where Self == Request<Void> {
    Request(method: .patch, path: path, query: query, mapping: .unavailable)
  }

  /// PATCH takes its content as `content:`.
  @available(*, unavailable, message: "pass the content as `content:`, for example `content: .json(value)`")
  public static func patch<V>(_ path: RequestPath, query: Query = [:], json: some Any) -> Self
  where Self == Request<V> {
    Request(method: .patch, path: path, query: query, mapping: .unavailable)
  }

  /// PATCH takes its content as `content:`.
  @available(*, unavailable, message: "pass the content as `content:`, for example `content: .json(value)`")
  public static func patch(_ path: RequestPath, query: Query = [:], json: some Any) -> Self
  where Self == Request<Void> {
    Request(method: .patch, path: path, query: query, mapping: .unavailable)
  }
}

extension RequestPath {
  /// A string is not a path.
  @available(
    *, unavailable,
    message: """
      write the path as a literal, in which each value is one segment: "/users/\\(id)"; a complete URL is `.url(text)`
      """
  )
  public init(_ text: String) {
    self.init(stringLiteral: text)
  }

  /// A Foundation URL is not a path.
  @available(*, unavailable, message: "write `.url(url)` for a complete URL")
  public init(_ url: URL) {
    self = .url(url)
  }
}

extension BaseURL {
  /// A Foundation URL is not checked.
  @available(*, unavailable, message: "write `try BaseURL(url.absoluteString)`, which checks the URL")
  public init(_ url: URL) {
    self.init(stringLiteral: url.absoluteString)
  }
}
