import ApusFiles
import ApusMiddleware
import Testing

@testable import ApusCredentials

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Records of earlier versions")
struct RecordVersionsTests {
  /// A record in the format before tokens had scopes, an ID token and a proof key.
  private static let old = """
    {"version":1,"generation":41,"principal":7,"since":1790000000.25,"kind":"tokens","account":"ada",\
    "secret":"old access","refresh":"old refresh","seconds":3600,"attoseconds":500000000000000000}
    """

  private static let oldTokens = Tokens(
    access: "old access", refresh: "old refresh", lifetime: .milliseconds(3_600_500))

  /// Tokens with all members that a record can contain.
  private static let tokens: Tokens = {
    var tokens = Tokens(access: "access", refresh: "refresh", lifetime: .seconds(60))
    tokens.scopes = ["openid", "films:read"]
    tokens.idToken = "header.claims.signature"
    tokens.proofKey = "private key"
    return tokens
  }()

  private func tokens(_ credential: Credential?) -> Tokens? {
    if case .tokens(let tokens)? = credential { tokens } else { nil }
  }

  @Test("A record without scopes, ID token and proof key is read, and these values are missing")
  func reading() throws {
    let record = try #require(CredentialRecord(Data(Self.old.utf8)))
    #expect(record.generation == 41 && record.principal == 7 && record.account == "ada")
    #expect(record.since == 1_790_000_000.25 && record.credential == .tokens(Self.oldTokens))
    let read = try #require(tokens(record.credential))
    #expect(read.scopes == nil && read.idToken == nil && read.proofKey == nil)
    #expect(CredentialRecord(try record.encoded()) == record)
  }

  @Test(
    "The member names of records of tokens, passwords and no credentials have not changed",
    arguments: [
      (#""kind":"none""#, nil), (#""kind":"token","secret":"t""#, .token("t")),
      (#""kind":"password","user":"ada","secret":"p""#, .password(user: "ada", "p")),
      (#""kind":"tokens","secret":"a""#, .tokens(Tokens(access: "a"))),
    ] as [(String, Credential?)])
  func kinds(members: String, credential: Credential?) throws {
    let text = #"{"version":1,"generation":1,"principal":2,"since":3,\#(members)}"#
    #expect(
      CredentialRecord(Data(text.utf8))
        == CredentialRecord(credential: credential, generation: 1, principal: 2, since: 3))
  }

  @Test("Scopes, ID token and proof key have stable names in the record, and are read again")
  func writing() throws {
    let record = CredentialRecord(credential: .tokens(Self.tokens), generation: 1, principal: 1, since: 0)
    let bytes = try record.encoded()
    #expect(CredentialRecord(bytes) == record)
    let text = String(decoding: bytes, as: UTF8.self)
    for member in [
      #""scopes":["openid","films:read"]"#, #""idToken":"header.claims.signature""#, #""proofKey":"private key""#,
    ] {
      #expect(text.contains(member), "\(member)")
    }
    // An empty list of scopes differs from unknown scopes.
    var none = Self.tokens
    none.scopes = []
    let empty = CredentialRecord(credential: .tokens(none), generation: 1, principal: 1, since: 0)
    #expect(tokens(CredentialRecord(try empty.encoded())?.credential)?.scopes == [])
  }

  @Test("An old sealed file is read, and a refresh adds the new members for later processes")
  func file() async throws {
    try await CredentialsFolder.with { place in
      // Creates the folder and the key file.
      try await place.store().set(.token("first"))
      let header = try #require(SealHeader(of: try place.bytes()))
      let key = try FilePath(place.keyFile).key(isNew: false)
      try place.put(try header.sealed(Data(Self.old.utf8), with: key))
      let store = place.store()
      let stored = try await store.current()
      #expect(stored.generation == 41 && stored.principal == 7 && stored.credential == .tokens(Self.oldTokens))
      #expect(try await store.refresh(41, to: .tokens(Self.tokens)))
      let later = try await place.store().current()
      #expect(later.generation == 42 && later.principal == 7 && later.credential == .tokens(Self.tokens))
      // The account of the old record is unchanged.
      try await place.store().set(.token("same account"), account: "ada")
      #expect(try await place.store().current().principal == 7)
    }
  }

  #if os(Linux)
  @Test("An old key in a keyring is read, and a refresh adds the new members for later processes")
  func keyring() async throws {
    let kernel = FakeKernel()
    try await CredentialsFolder.with { place in
      let name = "apus test"
      let sessionKeyring: Int32 = -3
      _ = kernel.add(name, Array(Self.old.utf8), to: sessionKeyring)
      let store = place.keyring(kernel, name)
      let stored = try store.current()
      #expect(stored.generation == 41 && stored.principal == 7 && stored.credential == .tokens(Self.oldTokens))
      #expect(try await store.refresh(41, to: .tokens(Self.tokens)))
      let later = try place.keyring(kernel, name).current()
      #expect(later.generation == 42 && later.principal == 7 && later.credential == .tokens(Self.tokens))
    }
  }
  #endif
}
