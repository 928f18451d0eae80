// A stub of Apple's AuthenticationServices framework for scripts/apple-check: the declarations of web authentication.
//
// As on Apple's systems, sessions belong to the main actor.
public import Foundation

/// A window. On Apple's systems `UIWindow` or `NSWindow`.
@MainActor
open class ASPresentationAnchor {
  public init() {}
}

@MainActor
public protocol ASWebAuthenticationPresentationContextProviding: AnyObject {
  func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
}

public struct ASWebAuthenticationSessionError: Error {
  public enum Code: Int, Sendable {
    case canceledLogin = 1
    case presentationContextNotProvided = 2
    case presentationContextInvalid = 3
  }

  public let code: Code
}

@MainActor
open class ASWebAuthenticationSession {
  public typealias CompletionHandler = @Sendable (URL?, (any Error)?) -> Void

  public struct Callback {
    public static func customScheme(_ scheme: String) -> Callback { Callback() }
    public static func https(host: String, path: String) -> Callback { Callback() }
  }

  public init(url: URL, callback: Callback, completionHandler: @escaping CompletionHandler) {}

  public weak var presentationContextProvider: (any ASWebAuthenticationPresentationContextProviding)?
  public var prefersEphemeralWebBrowserSession = false

  @discardableResult
  public func start() -> Bool { false }
  public func cancel() {}
}
