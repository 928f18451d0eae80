/// The responses of the listener.
enum RedirectPage {
  /// Returns the response to a request.
  static func response(to step: RedirectRequest.Step) -> [UInt8] {
    switch step {
    case .wait: []
    case .arrive:
      response("200 OK", title: "You can close this window", text: "The sign-in continues in the app.")
    case .refuse(let status):
      response(
        "\(status) \(reason(status))", title: "This page does not exist", text: "It serves a sign-in that is under way."
      )
    }
  }

  private static func reason(_ status: Int) -> String {
    switch status {
    case 400: "Bad Request"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 421: "Misdirected Request"
    default: "Request Header Fields Too Large"
    }
  }

  private static func response(_ status: String, title: String, text: String) -> [UInt8] {
    let page = """
      <!doctype html>
      <html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
      <title>\(title)</title>
      <h1>\(title)</h1>
      <p>\(text)</p>
      </html>

      """
    // The URL of the page contains the code, so the page must not reveal it to other servers, and no script may run.
    let fields = [
      "Content-Type: text/html; charset=utf-8", "Content-Length: \(page.utf8.count)", "Connection: close",
      "Cache-Control: no-store", "Referrer-Policy: no-referrer", "X-Content-Type-Options: nosniff",
      "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'",
    ]
    return Array("HTTP/1.1 \(status)\r\n\(fields.joined(separator: "\r\n"))\r\n\r\n\(page)".utf8)
  }
}
