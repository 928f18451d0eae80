import Foundation
import Testing

@testable import Backend

@Suite struct MultipartFormTests {
  private let part = "Content-Disposition: form-data; name=\"image\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n"

  @Test func `The parts of a form are parsed`() throws {
    let text = "--x\r\n\(part)\r\n1\r\n2\r\n--x\r\nContent-Disposition: form-data; name=b\r\n\r\n\r\n--x--\r\n"
    let parts = try MultipartForm.parts(of: Data(text.utf8), boundary: "x")
    #expect(parts.map(\.name) == ["image", "b"])
    #expect(parts.map(\.mediaType) == ["image/png", nil])
    #expect(parts.map(\.content) == [Data("1\r\n2".utf8), Data()])
  }

  @Test(arguments: [
    "", "--x", "--x--x", "--y--\r\n", "--x\r\n\r\n\r\n--x--\r\n",
    "--x\r\nContent-Disposition: form-data\r\n\r\n\r\n--x--",
    "--x\r\nContent-Disposition: form-data; name=a\r\n\r\n1", "text--x--\r\n",
  ])
  func `Malformed content is rejected`(text: String) {
    #expect(throws: Problem.self) { try MultipartForm.parts(of: Data(text.utf8), boundary: "x") }
  }

  @Test func `The boundary is a parameter of the media type`() {
    #expect(MultipartForm.boundary(in: "multipart/form-data; boundary=x") == "x")
    #expect(MultipartForm.boundary(in: #"Multipart/Form-Data; charset=utf-8; boundary="x y""#) == "x y")
    for field in [nil, "", "multipart/form-data", "multipart/mixed; boundary=x", "multipart/form-data; boundary="] {
      #expect(MultipartForm.boundary(in: field) == nil)
    }
  }
}
