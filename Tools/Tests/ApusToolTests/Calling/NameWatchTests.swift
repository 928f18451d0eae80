import Apus
import ApusTransfers
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("Names that servers suggest")
struct NameWatchTests {
  private func head(_ disposition: String?, status: HTTPResponse.Status = .ok) -> HTTPResponse {
    var head = HTTPResponse(status: status)
    head.headerFields[.contentDisposition] = disposition
    return head
  }

  @Test("The first response with a name decides, otherwise the last URL")
  func names() {
    let watch = NameWatch()
    #expect(watch.name == nil)
    watch.note(head(nil), url: "https://h/a")
    #expect(watch.name == FileName("a"))
    watch.note(head(nil, status: .partialContent), url: "https://h/b")
    #expect(watch.name == FileName("b"))
    watch.note(head("attachment; filename=c"), url: "https://h/b")
    watch.note(head(nil, status: .partialContent), url: "https://h/d")
    watch.note(head("attachment; filename=e"), url: "https://h/d")
    #expect(watch.name == FileName("c"))
  }
}
