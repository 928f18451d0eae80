import ApusAWS
import ApusCore
import Crypto
import Foundation
import HTTPTypes
import Measuring

/// A program that measures AWS signatures: processor time of the thread, interleaved in one process.
///
///     Signing [rounds]              prints the table
///     Signing profile COUNT         signs requests without content, for a profiler
@main
struct Signing {
  private struct Figures {
    var hash = 0.0
    var keyedHash = 0.0
    var signature = 0.0
    var contentHash = 0.0
    var signedContent = 0.0
    var chunked = 0.0
  }

  private static let content = Data((0..<(8 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) })
  private static let credentials = AWSCredentials(
    accessKeyID: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
  private static let signer = SignatureV4(region: "eu-central-1", service: "execute-api")
  private static let date = Date(timeIntervalSince1970: 1_440_938_160)

  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "profile" {
      let request = request(.empty)
      for _ in 0..<(arguments.dropFirst().first.flatMap { Int($0) } ?? 1_000_000) {
        _ = try signer.sign(request, with: credentials, at: date)
      }
      return
    }
    #if DEBUG
    print("A debug build.")
    #endif
    let rounds = try await interleaved(arguments.first.flatMap { Int($0) } ?? 21) { try await round() }
    report("SHA-256 of a canonical request, µs", rounds.map(\.hash))
    report("keyed hash of a string to sign, µs", rounds.map(\.keyedHash))
    report("signature without content, µs", rounds.map(\.signature))
    report("signature ÷ (keyed hash + hash)", rounds.map { $0.signature / ($0.keyedHash + $0.hash) })
    report("signature ÷ keyed hash", rounds.map { $0.signature / $0.keyedHash })
    report("SHA-256 of 8 MiB, MB/s", rounds.map { megabytes($0.contentHash) }, digits: 0)
    report("signature of 8 MiB, MB/s", rounds.map { megabytes($0.signedContent) }, digits: 0)
    report("signature of 8 MiB ÷ SHA-256", rounds.map { $0.contentHash / $0.signedContent })
    report("8 MiB in signed chunks with CRC-64, MB/s", rounds.map { megabytes($0.chunked) }, digits: 0)
    report("8 MiB in unsigned chunks with CRC-32C, MB/s", try await unsigned(rounds.count), digits: 0)
  }

  private static func megabytes(_ microseconds: Double) -> Double { Double(content.count) / microseconds }

  private static func request(_ content: MessageContent) -> RequestMessage {
    RequestMessage(
      head: HTTPRequest(
        method: .get, scheme: "https", authority: "abc123.execute-api.eu-central-1.amazonaws.com",
        path: "/production/films/ran", headerFields: [.accept: "application/json"]),
      content: content)
  }

  private static func round() async throws -> Figures {
    var figures = Figures()
    let request = request(.empty)
    let signed = try signer.sign(request, with: credentials, at: date)
    let (canonical, text) = (Array(signed.canonicalRequest.utf8), Array(signed.stringToSign.utf8))
    let key = SymmetricKey(size: .bits256)
    let count = 20_000
    figures.hash = time(count) { _ = SHA256.hash(data: canonical) }
    figures.keyedHash = time(count) { _ = HMAC<SHA256>.authenticationCode(for: text, using: key) }
    figures.signature = try time(count) { _ = try signer.sign(request, with: credentials, at: date) }
    figures.contentHash = time(3) { _ = SHA256.hash(data: content) }
    let upload = self.request(.bytes(content))
    figures.signedContent = try time(3) { _ = try signer.sign(upload, with: credentials, at: date) }
    figures.chunked = try await chunks(.signedChunks(trailer: .crc64nvme))
    return figures
  }

  private static func unsigned(_ count: Int) async throws -> [Double] {
    var all: [Double] = []
    for _ in 0..<count { all.append(megabytes(try await chunks(.unsignedChunks(trailer: .crc32c)))) }
    return all
  }

  /// Returns the time to encode the content, read in pieces of 256 KiB.
  private static func chunks(_ payload: SignatureV4.Payload) async throws -> Double {
    let source = ContentStream(length: Int64(content.count), Pieces(content: content))
    let message = try signer.sign(request(.stream(source)), with: credentials, at: date, payload: payload).message
    guard case .stream(let stream) = message.content else { return .infinity }
    let start = Used.now.processor
    let pieces = try stream.makePieces()
    var length = 0
    while let piece = try await pieces() { length += piece.count }
    precondition(Int64(length) == stream.length)
    return Used.now.processor - start
  }

  private static func time(_ count: Int, _ work: () throws -> Void) rethrows -> Double {
    let start = threadMicroseconds()
    for _ in 0..<count { try work() }
    return (threadMicroseconds() - start) / Double(count)
  }
}

/// Content in pieces of 256 KiB.
private struct Pieces: AsyncSequence, Sendable {
  let content: Data

  struct Iterator: AsyncIteratorProtocol {
    var rest: Data

    mutating func next() async -> Data? {
      defer { rest = rest.dropFirst(256 << 10) }
      return rest.isEmpty ? nil : rest.prefix(256 << 10)
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(rest: content) }
}
