import Testing

@testable import ApusCredentials

@Suite("SHA-512/256")
struct SHA512256Tests {
  private func hash(_ bytes: [UInt8], pieces: Int = .max) -> String {
    var hash = SHA512256()
    var rest = bytes[...]
    while !rest.isEmpty {
      Array(rest.prefix(pieces)).withUnsafeBytes { hash.update($0) }
      rest = rest.dropFirst(pieces)
    }
    return hash.finalize().map { DigestText.hexadecimal($0) }.joined()
  }

  /// Example texts of FIPS 180-4 with their hashes.
  private static let published = [
    ("", "c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a"),
    ("abc", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
    (
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrst"
        + "nopqrstu", "3928e184fb8690f840da3988121d31be65cb9d3ef83ee6146feac861e19b563a"
    ),
  ]

  @Test("The published examples have the expected hashes", arguments: published)
  func examples(text: String, expected: String) {
    #expect(hash(Array(text.utf8)) == expected)
  }

  @Test("The hash does not depend on how the bytes are split into pieces")
  func pieces() {
    for count in [111, 112, 113, 127, 128, 129, 239, 240, 256, 1000] {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
      #expect(Set([1, 7, 128, 1000].map { hash(bytes, pieces: $0) }).count == 1)
    }
    let many = hash([UInt8](repeating: UInt8(ascii: "a"), count: 100_000))
    #expect(many == "e80ca5088489a211f232d4fcefcbd3603ca8c806bee2017ce4ff7ef5771ffaac")
  }

  @Test("Inputs with lengths near the end of a block have the same hashes as in another implementation")
  func lengths() {
    let bytes = (0..<130).map { UInt8(truncatingIfNeeded: $0) }
    for (count, expected) in Self.byLength { #expect(hash(Array(bytes.prefix(count))) == expected) }
  }

  /// Hashes of the bytes 0, 1, 2 and so on, computed independently of this code.
  private static let byLength: [(Int, String)] = [
    (111, "bd209f60b0d04102a09175297fd255367e54b5a5605b928635c606306914363f"),
    (112, "2cafeb0882cc405167e9a255b8581a66dc683212474902dd453dbca20a94e61a"),
    (127, "c26bc7e9315e62ab0dc6aeb577724d07c09b0c6fdfc0a9f08d8548047c032248"),
    (128, "2ff11194b2aec1f943cb5f130ba647c151334068083194d7281a55d607ae255f"),
    (129, "c4a3bbf841ed2a289e5109fb392229c80db61c72fd92079b5a4f0441f095a111"),
  ]
}
