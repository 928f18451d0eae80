import HTTPTypes
import NIOCore
import Testing

@testable import ApusNIO

@Suite("Bytes after coded content")
struct TrailingBytesTests {
  private static let text = ContentDecoderTests.text
  private static let member = compressed(text, .gzip)

  private struct Decoded: Equatable {
    var content: [UInt8] = []
    var error: CodingError.Kind?
    var skipped: Int64 = 0

    static func failure(_ kind: CodingError.Kind) -> Decoded { Decoded(error: kind) }
  }

  /// Decodes bytes that arrive in pieces of one size. A failed result omits the decoded content.
  private func decoded(
    _ bytes: [UInt8], _ chain: [ContentCoding] = [.gzip], pieces size: Int = .max, isVerified: Bool = false
  ) -> Decoded {
    guard let decoder = ContentDecoder(chain, permitsTrailingBytes: !isVerified) else { return Decoded() }
    do throws(CodingError) {
      var content: [UInt8] = []
      var rest = bytes[...]
      while !rest.isEmpty {
        var buffer = ByteBuffer(bytes: rest.prefix(size))
        rest = rest.dropFirst(size)
        while let piece = try decoder.next(from: &buffer) { content += piece.readableBytesView }
      }
      try decoder.finish()
      return Decoded(content: content, skipped: decoder.skipped)
    } catch {
      return .failure(error.kind)
    }
  }

  /// Expects the same outcome for pieces of each size.
  private func expect(
    _ bytes: [UInt8], _ chain: [ContentCoding] = [.gzip], gives outcome: Decoded,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for size in Self.sizes {
      #expect(decoded(bytes, chain, pieces: size) == outcome, "pieces of \(size)", sourceLocation: sourceLocation)
    }
  }

  /// The sizes of the pieces in which bytes arrive.
  private static let sizes: [Int] = [.max, 1, 2, 3, 7, member.count, member.count + 1]

  @Test(
    "Bytes after a gzip member are skipped and counted",
    arguments: [
      Array("\r\n".utf8), [0], [0x1F], [0x1F, 0x1F], [0x1F, 0], [0x1F, 0x1F, 0x8B], [0x8B, 0x1F],
      Array(repeating: 0, count: 512), Array("<!-- generated in 3 ms -->".utf8), [0] + compressed([1], .gzip),
      Array(repeating: 0x1F, count: 4096),
    ] as [[UInt8]])
  func skipped(trailing: [UInt8]) {
    expect(
      Self.member + trailing, gives: Decoded(content: Self.text, skipped: Int64(trailing.count)))
    expect(
      compressed([], .gzip) + trailing, gives: Decoded(content: [], skipped: Int64(trailing.count)))
    expect(
      Self.member + Self.member + trailing,
      gives: Decoded(content: Self.text + Self.text, skipped: Int64(trailing.count)))
  }

  @Test("More than 4 KiB after a gzip member are an error")
  func tooMany() {
    for trailing in [4097, 70_000] {
      expect(Self.member + Array(repeating: 0, count: trailing), gives: .failure(.trailingBytes))
    }
  }

  @Test("Bytes after a gzip member that begin like another member must form a valid member")
  func members() throws {
    expect(Self.member + compressed([1, 2], .gzip), gives: Decoded(content: Self.text + [1, 2]))
    for length in 2..<Self.member.count {
      #expect(decoded(Self.member + Self.member.prefix(length)) == .failure(.truncated))
    }
    expect(Self.member + [0x1F, 0x8B], gives: .failure(.truncated))
    expect(Self.member + [0x1F, 0x8B, 0xFF] + Self.member, gives: .failure(.malformed))
    var altered = Self.member
    altered[altered.count - 6] ^= 1
    expect(Self.member + altered, gives: .failure(.malformed))
  }

  @Test("Bytes are skipped neither after a member with a wrong checksum nor in place of a member")
  func wrongCheck() {
    for (offset, trailing) in [(1, "\r\n"), (5, "\r\n"), (5, "")] {
      var altered = Self.member
      altered[altered.count - offset] ^= 1
      expect(altered + Array(trailing.utf8), gives: .failure(.malformed))
    }
    expect(Array("\r\n".utf8), gives: .failure(.malformed))
    expect(Array("\r\n".utf8) + Self.member, gives: .failure(.malformed))
  }

  @Test(
    "Bytes after deflate content are an error, with and without a zlib wrapper", arguments: [CodedFormat.zlib, .raw])
  func deflate(format: CodedFormat) {
    let bytes = compressed(Self.text, format)
    expect(bytes, [.deflate], gives: Decoded(content: Self.text))
    expect(bytes + [0], [.deflate], gives: .failure(.trailingBytes))
    expect(compressed(bytes, .gzip) + [0], [.deflate, .gzip], gives: Decoded(content: Self.text, skipped: 1))
    expect(compressed(Self.member, format) + [0], [.gzip, .deflate], gives: .failure(.trailingBytes))
  }

  @Test("With several gzip codings, trailing bytes are skipped in each of them")
  func stacked() {
    let inner = Self.member + Array("\r\n".utf8)
    expect(
      compressed(inner, .gzip) + [0, 0, 0], [.gzip, .gzip], gives: Decoded(content: Self.text, skipped: 5))
    expect(
      compressed(Self.member + Array(repeating: 0, count: 5000), .gzip), [.gzip, .gzip], gives: .failure(.trailingBytes)
    )
  }

  @Test("Bytes after a gzip member are an error if a digest covers them")
  func verified() throws {
    #expect(decoded(Self.member, isVerified: true) == Decoded(content: Self.text))
    for trailing in [[0], [0x1F], Array("\r\n".utf8)] as [[UInt8]] {
      for size in Self.sizes {
        #expect(decoded(Self.member + trailing, pieces: size, isVerified: true) == .failure(.trailingBytes))
      }
    }
    for (name, isVerified) in [("Content-Digest", true), ("Repr-Digest", true), ("Digest", true), ("ETag", false)] {
      let name = try #require(HTTPField.Name(name))
      let fields: HTTPFields = [.contentEncoding: "gzip", name: "sha-256=:x:"]
      let decoder = try #require(try ContentDecoder.decoder(for: fields))
      let outcome = Result {
        _ = try decoder.decode(ByteBuffer(bytes: Self.member + [0]))
        try decoder.finish()
      }
      #expect((try? outcome.get()) == nil ? isVerified : !isVerified, "\(name)")
    }
  }
}
