import Apus
import Foundation
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("The folder of profiles")
struct ProfileFolderTests {
  @Test(
    "The environment determines the folder",
    arguments: [
      (["APUS_CONFIG_HOME": "/a/", "XDG_CONFIG_HOME": "/b", "HOME": "/c"], "/a"),
      (["XDG_CONFIG_HOME": "/b//", "HOME": "/c"], "/b/apus"), (["HOME": "/c"], "/c/.config/apus"),
      (["APUS_CONFIG_HOME": "", "XDG_CONFIG_HOME": "", "HOME": "/c/"], "/c/.config/apus"),
      (["XDG_CONFIG_HOME": "b", "HOME": "/c"], "/c/.config/apus"), (["APUS_CONFIG_HOME": "a/b"], "a/b"),
    ] as [([String: String], String)])
  func path(environment: [String: String], path: String) throws {
    #expect(try ProfileFolder(environment: environment).path == path)
  }

  @Test(
    "The environment determines the folder of the state",
    arguments: [
      (["APUS_STATE_HOME": "/a/", "XDG_STATE_HOME": "/b"], "/a"), (["XDG_STATE_HOME": "/b", "HOME": "/c"], "/b/apus"),
      (["APUS_CONFIG_HOME": "/a", "XDG_STATE_HOME": "b", "HOME": "/c/"], "/c/.local/state/apus"), ([:], nil),
    ] as [([String: String], String?)])
  func state(environment: [String: String], path: String?) {
    #expect(UserFolder.state.path(in: environment) == path)
  }

  @Test("Without a home folder there is an error", arguments: [[:], ["HOME": ""], ["HOME": "c"]] as [[String: String]])
  func nowhere(environment: [String: String]) {
    #expect(throws: ProfileError.noFolder) { try ProfileFolder(environment: environment) }
  }

  @Test("Profiles and file names convert into each other")
  func names() throws {
    let folder = ProfileFolder(path: "/a")
    let name = try ProfileName("x.y")
    #expect(folder.profile(name) == "/a/profiles/x.y.json")
    #expect(folder.credentials(of: name, login: "0123456789abcdef") == "/a/credentials/x.y.0123456789abcdef")
    #expect(folder.secret(of: name, login: "0123456789abcdef") == "/a/credentials/x.y.0123456789abcdef/secret")
    #expect(ProfileFolder.name(ofProfile: "x.y.json") == name)
    let owner = try #require(ProfileFolder.owner(ofCredentials: "x.y.0123456789abcdef"))
    #expect(owner.name == name)
    #expect(owner.login == "0123456789abcdef")
  }

  @Test(
    "Files without the name of a profile are ignored",
    arguments: ["x", ".json", "x.json.part", ".x.json", "a b.json", "lock"])
  func foreign(file: String) {
    #expect(ProfileFolder.name(ofProfile: file) == nil)
  }

  @Test(
    "Folders whose names are not those of credentials are ignored",
    arguments: [
      "x", "x.", "x.0123", ".0123456789abcdef", "x.0123456789ABCDEF", "x.0123456789abcdeg", ".x.0123456789abcdef",
    ])
  func foreignFolder(folder: String) {
    #expect(ProfileFolder.owner(ofCredentials: folder) == nil)
  }
}
