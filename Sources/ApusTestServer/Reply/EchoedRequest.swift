#if NIO
  #if canImport(FoundationEssentials)
    public import FoundationEssentials
  #else
    public import Foundation
  #endif

  /// The content of an echo: the request as the server got it. Decode the answer's JSON into this.
  public struct EchoedRequest: Sendable, Hashable, Codable {
    /// The method's token as received.
    public var method: String
    /// The request target as received.
    public var target: String
    /// The field lines in order, each a name and a value.
    public var fields: [[String]]
    /// The content kept; Base64 in JSON.
    public var content: Data

    /// What an echo of `request` says.
    public init(_ request: RecordedRequest) {
      method = request.method
      target = request.target
      fields = request.fields.map { [$0.name, $0.value] }
      content = Data(request.content)
    }
  }

  extension Reply {
    /// An answer that describes the request: the JSON of an ``EchoedRequest``.
    public static func echo(_ request: RecordedRequest, status: Int = 200, fields: FieldLines = [:]) -> Reply {
      guard let json = try? JSONEncoder().encode(EchoedRequest(request)) else { return .status(500) }
      return .json(String(decoding: json, as: UTF8.self), status: status, fields: fields)
    }
  }
#endif
