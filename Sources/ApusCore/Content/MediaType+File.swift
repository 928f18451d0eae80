extension MediaType {
  /// Creates the media type for the extension of a file name or path. For unknown extensions it is
  /// `application/octet-stream`.
  ///
  /// - Parameter path: a file name or a path. The case of the extension does not matter.
  public init(forFile path: String) {
    let name = path.utf8.split(separator: UInt8(ascii: "/")).last ?? path.utf8[...]
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex,
      let type = Self.typesByExtension[Substring(name[dot...].dropFirst()).lowercased()]
    else {
      self = .bytes
      return
    }
    self.init(type)
  }

  /// The registered media types of common file formats.
  private static let typesByExtension: [String: String] = [
    "7z": "application/x-7z-compressed", "aac": "audio/aac", "avif": "image/avif", "bmp": "image/bmp",
    "bz2": "application/x-bzip2", "css": "text/css", "csv": "text/csv",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "epub": "application/epub+zip", "flac": "audio/flac", "gif": "image/gif", "glb": "model/gltf-binary",
    "gz": "application/gzip", "heic": "image/heic", "heif": "image/heif", "htm": "text/html", "html": "text/html",
    "ics": "text/calendar", "ico": "image/vnd.microsoft.icon", "jpeg": "image/jpeg", "jpg": "image/jpeg",
    "js": "text/javascript", "json": "application/json", "jsonl": "application/jsonl", "jxl": "image/jxl",
    "m4a": "audio/mp4", "m4v": "video/mp4", "md": "text/markdown", "mid": "audio/midi", "mjs": "text/javascript",
    "mkv": "video/matroska", "mov": "video/quicktime", "mp3": "audio/mpeg", "mp4": "video/mp4", "mpeg": "video/mpeg",
    "ndjson": "application/x-ndjson", "odp": "application/vnd.oasis.opendocument.presentation",
    "ods": "application/vnd.oasis.opendocument.spreadsheet", "odt": "application/vnd.oasis.opendocument.text",
    "oga": "audio/ogg", "ogg": "audio/ogg", "ogv": "video/ogg", "opus": "audio/ogg", "otf": "font/otf",
    "pdf": "application/pdf", "png": "image/png", "ppt": "application/vnd.ms-powerpoint",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation", "rtf": "application/rtf",
    "sqlite": "application/vnd.sqlite3", "svg": "image/svg+xml", "tar": "application/x-tar", "tif": "image/tiff",
    "tiff": "image/tiff", "toml": "application/toml", "ttf": "font/ttf", "txt": "text/plain",
    "wasm": "application/wasm", "wav": "audio/wav", "weba": "audio/webm", "webm": "video/webm", "webp": "image/webp",
    "woff": "font/woff", "woff2": "font/woff2", "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xml": "application/xml",
    "yaml": "application/yaml", "yml": "application/yaml", "zip": "application/zip", "zst": "application/zstd",
  ]
}
