#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The places of secrets. Each place has its own secret, which identifies the source of a leak.
enum SecretPlace: String, Sentinel {
  case credential, userName, source
  case baseQuery, baseUser, pathValue, ownParameter, commonParameter
  case ownField, commonField, sensitiveField, cookie, fieldName
  case requestContent, requestFile
  case responseContent, responseKey, setCookie, challenge
  case cause
}

/// An error with a secret in its descriptions.
struct TellingError: LocalizedError, CustomStringConvertible, CustomDebugStringConvertible {
  var secret = SecretPlace.cause.secret
  var description: String { "failed with \(secret)" }
  var debugDescription: String { description }
  var errorDescription: String? { description }
  var failureReason: String? { description }
}
