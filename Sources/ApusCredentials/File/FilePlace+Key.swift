#if Credentials
  import Crypto

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  extension FilePlace {
    private static let keyLength = 32

    /// The key that a file holds.
    ///
    /// - Parameter isNew: whether nothing is sealed with it yet, so that a key that is missing may be made. When it returns
    ///   the key is on the disk, whichever process has made it.
    func key(isNew: Bool) throws(FileCredentialsError) -> SymmetricKey {
      if let folder = try openFolder(), let key = try keptKey(in: folder) {
        if isNew { try settleKey(in: folder) }
        return key
      }
      guard isNew else { throw FileCredentialsError(.keyMissing, name) }
      let folder = try makeFolder()
      try makeKey(in: folder)
      guard let key = try keptKey(in: folder) else { throw FileCredentialsError(.keyMissing, name) }
      try settleKey(in: folder)
      return key
    }

    private func keptKey(in folder: Folder) throws(FileCredentialsError) -> SymmetricKey? {
      guard let content = try folder.content(of: name, upTo: 1 << 10) else { return nil }
      let text = content.bytes.filter { $0 > UInt8(ascii: " ") }
      guard let bytes = Data(base64Encoded: String(decoding: text, as: UTF8.self)), bytes.count == Self.keyLength else {
        throw FileCredentialsError(.malformedKey, name)
      }
      return SymmetricKey(data: bytes)
    }

    /// Puts a key in the file's place, complete, unless somebody else has been quicker.
    private func makeKey(in folder: Folder) throws(FileCredentialsError) {
      // A name of its own: others may be doing the same, and there is no lock for a file that stands anywhere.
      let draft = draftPrefix + String(UInt64.random(in: .min ... .max), radix: 16)
      let made = try folder.make(draft)
      defer { folder.remove(draft) }
      let text = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }.base64EncodedString() + "\n"
      try made.keep(Array(text.utf8), draft)
      // Where it was not to be had, somebody else's key is there; they may have removed the draft too.
      _ = try folder.link(draft, as: name)
    }

    /// Returns when the key that is there is on the disk, and removes what processes that died while they made it have
    /// left behind: it may be a second name of the key.
    ///
    /// Who is still making one finds this key instead.
    private func settleKey(in folder: Folder) throws(FileCredentialsError) {
      try folder.settleWhereItCan()
      let names = (try? FileManager.default.contentsOfDirectory(atPath: self.folder)) ?? []
      for draft in names where isDraft(draft) { folder.remove(draft) }
    }

    private var draftPrefix: String { "\(name).draft-" }

    private func isDraft(_ other: String) -> Bool {
      guard other.hasPrefix(draftPrefix) else { return false }
      let number = other.dropFirst(draftPrefix.count)
      return !number.isEmpty && number.allSatisfy(\.isHexDigit)
    }
  }
#endif
