import Apus
import ApusAWS
import Foundation

/// The execution of `apus sign`: reads a request, signs it and prints the signature.
struct Signing: Sendable {
  let signer: SignatureV4
  let credentials: AWSCredentials
  let date: Date
  /// The time for which a presigned URL is valid; `nil`: the signature is added as a field.
  let seconds: Int?
  let input: DescriptorReader
  let output: DescriptorWriter
  let error: DescriptorWriter

  /// The maximum size of the request in bytes.
  private static let limit = 64 << 20

  func run() async -> ExitStatus {
    do {
      try await output.writeToTheEnd(try line(for: try await read()))
      return .accepted
    } catch {
      let ending = Ending(error)
      if let complaint = ending.complaint { self.error.writeNow(complaint.text) }
      return ending.status
    }
  }

  private func read() async throws -> Data {
    var bytes = Data()
    while let piece = try await input.next() {
      bytes += piece
      guard bytes.count <= Self.limit else { throw InputError(place: "standard input", reason: "it is too long") }
    }
    return bytes
  }

  /// Returns the line of JSON for a request.
  ///
  /// - Throws: ``InputError``, `SigningError`
  func line(for request: Data) throws -> Data {
    let message = try RawRequest.message(request, place: "standard input")
    let signed =
      try seconds.map { try signer.presign(message, with: credentials, at: date, seconds: $0) }
      ?? signer.sign(message, with: credentials, at: date)
    var bytes: [UInt8] = []
    var members = [
      ("canonical_request", signed.canonicalRequest), ("string_to_sign", signed.stringToSign),
      ("signature", signed.signature),
    ]
    members.append(
      seconds == nil
        ? ("authorization", signed.message.head.headerFields[.authorization] ?? "")
        : ("url", Self.url(of: signed.message)))
    for (name, value) in members {
      bytes += (bytes.isEmpty ? "{" : ",").utf8
      JSONText.appendQuoted(name.utf8, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      JSONText.appendQuoted(value.utf8, to: &bytes)
    }
    bytes += "}\n".utf8
    return Data(bytes)
  }

  /// Returns the URL of a signed message. Characters that a URL cannot contain are percent-encoded.
  private static func url(of message: RequestMessage) -> String {
    var bytes = Array("https://\(message.head.authority ?? "")".utf8)
    for byte in message.target.utf8 {
      if byte > 0x20, byte < 0x7F, !"\"<>\\^`{|}".utf8.contains(byte) {
        bytes.append(byte)
      } else {
        bytes += String(format: "%%%02X", byte).utf8
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
