/// A browser that displays a page to the user, for sign-ins.
///
/// ``AuthorizationBrowser/printed`` prints the page's URL; on Apple platforms `SystemBrowser` opens a window of the
/// system. A custom browser opens the page in another way:
///
/// ```swift
/// struct Opener: AuthorizationBrowser {
///   func open(_ page: String, redirect: String) async throws -> String? {
///     launch(page)
///     return nil
///   }
/// }
/// ```
public protocol AuthorizationBrowser: Sendable {
  /// Opens a page.
  ///
  /// The task is cancelled when the redirect has arrived, and when the sign-in is cancelled.
  ///
  /// - Parameters:
  ///   - page: the URL of the page.
  ///   - redirect: the URL to which the server finally redirects the browser.
  /// - Returns: the complete URL of the redirect if the browser intercepts it; `nil` if the browser does not intercept
  ///   redirects, so that only a redirect to a listener can arrive.
  /// - Throws: any error, which ends the sign-in; `CancellationError` if the user closed the page.
  func open(_ page: String, redirect: String) async throws -> String?
}

/// A browser that prints the URL of the page for the user to open, on this machine.
public struct PrintingBrowser: AuthorizationBrowser {
  private let print: @Sendable (String) -> Void

  /// Creates a browser.
  ///
  /// - Parameter print: prints a sentence with the URL. Default: to standard output.
  public init(_ print: @escaping @Sendable (String) -> Void = { Swift.print($0) }) {
    self.print = print
  }

  /// Prints the URL.
  public func open(_ page: String, redirect: String) -> String? {
    print("Open this page in a browser to sign in:\n\(page)")
    return nil
  }
}

extension AuthorizationBrowser where Self == PrintingBrowser {
  /// Prints the URL of the page to standard output.
  public static var printed: PrintingBrowser { PrintingBrowser() }
}
