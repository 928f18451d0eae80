#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Places where a secret can be. Each has a secret of its own, so that one which leaks tells where it came from.
enum SecretPlace: String, Sentinel {
  case credential, userName, source
  case baseQuery, baseUser, pathValue, ownParameter, commonParameter
  case ownField, commonField, sensitiveField, cookie, fieldName
  case requestContent, requestFile
  case responseContent, responseKey, setCookie, challenge
  case cause
}

/// An error that tells its secret to everybody who asks.
struct TellingError: LocalizedError, CustomStringConvertible, CustomDebugStringConvertible {
  var secret = SecretPlace.cause.secret
  var description: String { "failed with \(secret)" }
  var debugDescription: String { description }
  var errorDescription: String? { description }
  var failureReason: String? { description }
}
