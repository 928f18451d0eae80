import ApusCore
import ApusTesting
import Foundation
import HTTPTypes
import Synchronization

@testable import ApusAWS

/// A machine whose files and services a test defines.
struct ProviderBench {
  /// Secrets that must appear only in requests.
  static let secrets = ["SENTINEL-secret", "SENTINEL-token", "SENTINEL-bearer"]
  static let date = Date(timeIntervalSince1970: 1_440_938_160)

  let stub = StubTransport()
  let clock = ManualClock(.manual)
  var environment = AWSEnvironment(home: "/home/x")

  init(_ variables: [String: String] = [:], files: [String: String] = [:]) {
    environment.variables = variables
    environment.now = { Self.date }
    environment.readFile = { path, limit in
      guard let text = files[path] else { return nil }
      guard text.utf8.count <= limit else { throw SystemFile.Failure.tooLong }
      return Data(text.utf8)
    }
  }

  var chain: AWSCredentialsChain {
    AWSCredentialsChain(
      transport: stub, environment: environment, runtime: Runtime(clock: clock, random: { 0 }))
  }

  /// The failures of the providers that the chain tried, in order.
  func failures() async -> [AWSCredentialsError.Failure] {
    do {
      _ = try await chain.credentials()
      return []
    } catch {
      return (error as? AWSCredentialsError)?.failures ?? []
    }
  }

  /// The reason of the provider that ended the search.
  func reason() async -> String { await failures().last { $0.isConfigured }?.reason ?? "" }

  /// Replies to requests for a URL, whatever its query.
  func on(_ method: HTTPRequest.Method, _ url: String, _ reply: StubReply) {
    stub.on { request, _ in
      request.head.method == method && request.url.prefix { $0 != "?" } == url
    } reply: { _ in
      reply
    }
  }

  /// Replies to GET requests for a URL, whatever its query.
  func on(_ url: String, _ reply: StubReply) { on(.get, url, reply) }

  /// Returns the content of a metadata service's response.
  static func json(id: String = "ASIA", expiration: String = "2015-08-30T13:36:00Z", code: String = "Success") -> String
  {
    #"{"Code":"\#(code)","AccessKeyId":"\#(id)","SecretAccessKey":"SENTINEL-secret","Token":"SENTINEL-token","#
      + #""Expiration":"\#(expiration)"}"#
  }

  /// Returns the content of the token service's response.
  static func xml(_ action: String, id: String = "ASIAROLE", expiration: String = "2015-08-30T13:36:00Z") -> String {
    """
    <\(action)Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><\(action)Result><Credentials>\
    <AccessKeyId>\(id)</AccessKeyId><SecretAccessKey>SENTINEL-secret</SecretAccessKey>\
    <SessionToken>SENTINEL-token</SessionToken><Expiration>\(expiration)</Expiration></Credentials>\
    </\(action)Result></\(action)Response>
    """
  }
}
