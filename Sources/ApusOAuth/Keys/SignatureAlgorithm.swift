#if OAuth
/// The algorithms of signatures that are verified (RFC 7518 §3.1, RFC 8037 §3.1).
///
/// Neither `none` nor any algorithm with a shared secret is among them, and each belongs to one type of key: a server's
/// public key can never be taken for a shared secret.
enum SignatureAlgorithm: String, Hashable, Sendable, CaseIterable {
  case rs256 = "RS256"
  case ps256 = "PS256"
  case es256 = "ES256"
  case edDSA = "EdDSA"
}
#endif
