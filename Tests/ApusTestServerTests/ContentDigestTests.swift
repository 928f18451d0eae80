import ApusTestServer
import Testing

@Suite struct ContentDigestTests {
  @Test("A content digest depends on the bytes, not on how they were split", arguments: [1, 3, 8, 13, 1000])
  func cuts(size: Int) {
    let bytes = ContentPattern.counting.bytes(5..<2_000)
    var digest = ContentDigest()
    for start in stride(from: 0, to: bytes.count, by: size) {
      digest.update(with: bytes[start..<min(start + size, bytes.count)])
    }
    #expect(digest == ContentDigest(of: bytes))
    #expect(digest == ContentDigest(of: AnySequence(bytes)))
    #expect(Set([digest, ContentDigest(of: bytes)]).count == 1)
  }

  @Test("A content digest depends on length and order, including trailing zeros")
  func differences() {
    let all = [[], [0], [0, 0], [1, 2], [2, 1], [1, 2, 0]].map { ContentDigest(of: $0 as [UInt8]).value }
    #expect(Set(all).count == all.count)
  }

  @Test("A pattern's digest equals the digest of its bytes", arguments: [0, 1, 250, 70_000, 200_001])
  func pattern(length: Int) {
    let pattern = ContentPattern(repeating: Array("abc".utf8))
    #expect(pattern.digest(of: length) == ContentDigest(of: pattern.bytes(0..<length)))
    #expect(ContentPattern(repeating: []).bytes(0..<2) == [0, 0])
  }
}
