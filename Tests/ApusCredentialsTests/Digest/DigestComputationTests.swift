import Testing

@testable import ApusCredentials

@Suite("Digest computation")
struct DigestComputationTests {
  private struct Example {
    var user = "Mufasa"
    var password = "Circle of Life"
    var realm = "http-auth@example.org"
    var nonce = DigestBench.nonce
    var clientNonce: String? = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    var target = "/dir/index.html"

    func computation(_ algorithm: DigestAlgorithm) -> DigestComputation {
      let protection = clientNonce.map { DigestComputation.Protection(count: "00000001", clientNonce: $0) }
      return DigestComputation(algorithm: algorithm, realm: realm, nonce: nonce, protection: protection)
    }

    func response(_ algorithm: DigestAlgorithm) -> String {
      let computation = computation(algorithm)
      let key = computation.key(user: user, password: password)
      return computation.response(key: key, method: "GET", target: target)
    }
  }

  /// The names and texts of RFC 7616 §3.9.2. The hashes in the RFC are wrong (erratum 4897); these hashes were computed
  /// independently of this code.
  private let international = Example(
    user: "Jäsøn Doe", password: "Secret, or not?", realm: "api@example.org",
    nonce: "5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm",
    target: "/doe.json")

  @Test("The responses in the examples of RFC 7616 §3.9.1 are computed")
  func examples() {
    #expect(Example().response(.md5) == "8ca523f5e9506fed4657c9700eebdbec")
    #expect(Example().response(.sha256) == "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1")
  }

  @Test("The response in the example of RFC 2617 §3.5 is computed, also without a qop")
  func older() {
    var example = Example(
      user: "Mufasa", password: "Circle Of Life", realm: "testrealm@host.com",
      nonce: "dcd98b7102dd2f0e8b11d0f600bfb0c093", clientNonce: "0a4f113b")
    #expect(example.response(.md5) == "6629fae49393a05397450978507c4ef1")
    example.clientNonce = nil
    #expect(example.response(.md5) == "670fd8c2df070c60b045671b8b24ff02")
  }

  @Test("The key of a session includes both nonces")
  func sessions() {
    #expect(Example().response(.md5Session) == "e783283f46242139c486a698fec7211d")
    #expect(
      Example().response(.sha256Session) == "2fd51b3a77ad75bad6afad6003e818d767133c46d9e2749e7f5232ae1ea3efd7")
  }

  @Test("Names and passwords beyond ASCII are hashed in UTF-8")
  func languages() {
    #expect(international.response(.md5) == "f33f35281ddf05582b8faae5b8014ef5")
    #expect(international.response(.md5Session) == "c063c30efff100823aa016b3a162dae6")
    #expect(international.response(.sha256) == "06d0c14162099f487a92ebceaf71097534ee5f90d858386449c337ab69f7f6b8")
    #expect(
      international.response(.sha512256) == "7a4e1192babbba02e91182d2895bfdbf7adafc6e48d4e517ca301974843d840c")
    #expect(
      international.response(.sha512256Session)
        == "9ba4940836d53aaa8087f0035398d0af885fae1f893f08a4bbe767eb3538ffbf")
    #expect(
      international.response(.sha256Session) == "6c172f3a61ab237439229b2305b1caff43f28269e1fd776489a6eebe662043d4")
  }

  @Test("A user name is hashed with the realm")
  func users() {
    let user = international.user
    #expect(international.computation(.md5).userHash(user) == "2e063fa2c54dea1c36808b7a6e3b14c9")
    #expect(
      international.computation(.sha256).userHash(user)
        == "5a1a8a47df5c298551b9b42ba9b05835174a5bd7d511ff7fe9191d8e946fc4e7")
    // The hash of erratum 4897.
    #expect(
      international.computation(.sha512256).userHash(user)
        == "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b")
  }

  @Test("Algorithm names are case-insensitive, and a missing name means MD5")
  func names() {
    #expect(DigestAlgorithm(named: nil) == .md5)
    #expect(DigestAlgorithm(named: "md5") == .md5)
    #expect(DigestAlgorithm(named: "MD5-SESS") == .md5Session)
    #expect(DigestAlgorithm(named: "sha-256") == .sha256)
    #expect(DigestAlgorithm(named: "SHA-256-sess") == .sha256Session)
    #expect(DigestAlgorithm(named: "sha-512-256") == .sha512256)
    #expect(DigestAlgorithm(named: "SHA-512-256-SESS") == .sha512256Session)
    for name in ["", "SHA-512", "SHA-512/256", "SHA256", "SHA-256 ", "token"] {
      #expect(DigestAlgorithm(named: name) == nil)
    }
  }
}
