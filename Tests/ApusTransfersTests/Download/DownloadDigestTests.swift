import ApusCore
import ApusTesting
import Crypto
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ApusTransfers

@Suite("The digests of a download")
struct DownloadDigestTests {
  private let film = FileOnServer(length: 700_000)

  private static func member<Hash: HashFunction>(_ name: String, _ hash: Hash.Type, of bytes: Data) -> String {
    "\(name)=:\(Data(hash.hash(data: bytes)).base64EncodedString()):"
  }

  private func film(_ field: String, _ value: String) throws -> FileOnServer {
    var film = film
    film.fields[try #require(HTTPField.Name(field))] = value
    return film
  }

  @Test(
    "A matching digest of the server is accepted; a mismatch removes the file",
    arguments: ["Repr-Digest", "Content-Digest"], [true, false])
  func server(_ field: String, _ isRight: Bool) async throws {
    try await DownloadBench.with { bench in
      let bytes = isRight ? film.bytes : Data("other".utf8)
      let value = "unknown=1, \(Self.member("sha-512", SHA512.self, of: bytes))"
      bench.serve(try film(field, value))
      let error = await failure { try await bench.download() }
      #expect(error?.transfer?.problem == (isRight ? nil : .digestMismatch))
      #expect(error?.code == (isRight ? nil : .malformedResponse))
      #expect(bench.names == (isRight ? ["film.mp4"] : []))
    }
  }

  @Test("The digest of the options is verified", arguments: [true, false])
  func caller(_ isRight: Bool) async throws {
    try await DownloadBench.with { bench in
      bench.serve(film)
      let bytes = isRight ? film.bytes : Data("other".utf8)
      let text = SHA256.hash(data: bytes).map { String(format: "%02x", $0) }.joined()
      let options = DownloadOptions(digest: try FileDigest(.sha256, text))
      let error = await failure { try await bench.download(options) }
      #expect(error?.transfer?.problem == (isRight ? nil : .digestMismatch))
      #expect(bench.names == (isRight ? ["film.mp4"] : []))
    }
  }

  @Test("A resumed download also verifies the bytes of the earlier download", arguments: [true, false])
  func resumed(_ isRight: Bool) async throws {
    try await DownloadBench.with { bench in
      let film = try film("Repr-Digest", Self.member("sha-256", SHA256.self, of: film.bytes))
      try await bench.interrupt(film, after: 300_000)
      if !isRight {
        let part = try FileHandle(forWritingTo: URL(filePath: bench.partial))
        try part.write(contentsOf: Data("damaged".utf8))
        try part.close()
      }
      // Only the first response has the digest.
      bench.serve(self.film)
      let error = await failure { try await bench.download() }
      #expect(error?.transfer?.problem == (isRight ? nil : .digestMismatch))
      #expect(bench.names == (isRight ? ["film.mp4"] : []) && bench.ranges.last == "bytes=300000-")
    }
  }

  @Test("A digest that arrives with a part or in trailers is verified", arguments: [true, false])
  func late(_ isTrailer: Bool) async throws {
    try await DownloadBench.with { bench in
      let wrong = Self.member("sha-256", SHA256.self, of: Data("other".utf8))
      try await bench.interrupt(film, after: 300_000)
      if isTrailer {
        let name = try #require(HTTPField.Name("Repr-Digest"))
        bench.reply(film.part(from: 300_000).trailers([name: wrong]))
      } else {
        bench.reply(try film("Repr-Digest", wrong).part(from: 300_000))
      }
      let error = await failure { try await bench.download() }
      #expect(error?.transfer?.problem == .digestMismatch && bench.names.isEmpty)
    }
  }

  @Test("The digest of a part's content is verified", arguments: [true, false])
  func part(_ isRight: Bool) async throws {
    try await DownloadBench.with { bench in
      try await bench.interrupt(film, after: 300_000)
      let bytes = isRight ? film.bytes.dropFirst(300_000) : film.bytes
      bench.reply(
        try film("Content-Digest", Self.member("sha-256", SHA256.self, of: bytes)).part(from: 300_000))
      let error = await failure { try await bench.download() }
      #expect(error?.transfer?.problem == (isRight ? nil : .digestMismatch))
      #expect(bench.names == (isRight ? ["film.mp4"] : []))
    }
  }

  @Test("A part whose server states another digest of the complete file belongs to another file")
  func changed() async throws {
    try await DownloadBench.with { bench in
      let first = try film("Repr-Digest", Self.member("sha-256", SHA256.self, of: Data("first".utf8)))
      try await bench.interrupt(first, after: 300_000)
      let film = try film("Repr-Digest", Self.member("sha-256", SHA256.self, of: film.bytes))
      bench.serve(film)
      try await bench.download()
      #expect(bench.ranges == ["", "bytes=300000-", ""] && bench.bytes(bench.target) == film.bytes)
    }
  }
}
