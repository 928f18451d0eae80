import Apus
import ApusTesting
import HTTPTypes
import Testing

/// Secrets come from all sources of credentials, and from servers that repeat secrets. They may leave the process only
/// in messages that are sent.
@Suite("No description or log line contains a secret, regardless of the scheme and the outcome of the call")
struct SecretsEverywhereTests {
  @Test(
    "Errors, traces, events, registry entries, log lines, curl lines and dumps contain no secret",
    .timeLimit(.minutes(5)),
    arguments: SecretCase.all)
  func everywhere(secret: SecretCase) async throws {
    let bench = SecretBench(secret)
    let (error, texts) = try await bench.run()
    let isGood = secret.ending == .accepted || secret.ending == .streamed
    #expect((error == nil) == isGood, "\(secret.testDescription)")
    if let code = secret.ending.code { #expect(error?.code == code, "\(secret.testDescription): \(error as Any)") }
    #expect(bench.events.all.isEmpty != secret.ending.isUnauthorized, "\(secret.testDescription)")
    #expect(texts.contains { $0.name == "entry" } && texts.contains { $0.name == "log line" })

    let answers = bench.digests
    #expect(answers.isEmpty == (secret.authenticator != .digest))
    for shown in texts {
      let leaks = Planted.leaks(in: shown.text)
      #expect(leaks.isEmpty, "\(secret.testDescription): \(shown.name) shows \(leaks)")
      let isSilent = answers.allSatisfy { !shown.text.contains($0) }
      #expect(isSilent, "\(secret.testDescription): \(shown.name) shows the computed answer")
    }
  }

  @Test("All secrets are sent, so that the other tests would detect a leak", arguments: SecretCase.all)
  func onTheWire(secret: SecretCase) async throws {
    let bench = SecretBench(secret)
    _ = try await bench.run()
    var expected = secret.authenticator.shown
    if secret.authenticator == .refreshedBearer { expected.insert(.refresh) }
    if secret.authenticator == .refreshedBearer, !secret.ending.isOfRefresh { expected.insert(.newAccess) }
    let wire = bench.stub.exchanges.map { $0.request.curl(redaction: nil) }.joined(separator: "\n")
    #expect(Planted.leaks(in: wire) == expected, "\(secret.testDescription)")
    #expect(bench.digests.allSatisfy { wire.contains($0) })
  }

  @Test("The search detects a secret in plain text, Base64 and bytes")
  func finding() {
    let secret = Planted.password.secret
    var bytes = ""
    dump(Array("a\(secret)b".utf8), to: &bytes)
    for text in ["<\(secret)>", bytes] + ["", "u", "u:"].map({ "Basic " + base64($0 + secret + "tail") }) {
      #expect(Planted.leaks(in: text) == [.password])
    }
  }
}

extension SecretBench {
  /// The responses that were computed from a password, as they were sent.
  var digests: [String] {
    stub.exchanges.compactMap { digestParameters($0.fields[.authorization])["response"] }
  }
}
