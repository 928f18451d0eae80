import ApusCore
import ApusTesting
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ApusAWS

@Suite("Profiles")
struct ProfileSourceTests {
  private func bench(
    _ config: String, credentials: String = "", profile: String? = "p", files: [String: String] = [:]
  ) -> ProviderBench {
    var all = files
    all["/home/x/.aws/config"] = config
    all["/home/x/.aws/credentials"] = credentials
    var bench = ProviderBench(files: all)
    bench.environment.profile = profile
    return bench
  }

  private let keys = "[base]\naws_access_key_id = AKIDBASE\naws_secret_access_key = SENTINEL-secret\n"

  @Test("A profile's keys come from the user's files, or from the files at the paths in variables")
  func files() async throws {
    #expect(try await bench("", credentials: keys, profile: "base").chain.credentials().accessKeyID == "AKIDBASE")
    var other = bench("", profile: "base", files: ["/elsewhere": keys])
    other.environment.variables = ["AWS_SHARED_CREDENTIALS_FILE": "/elsewhere"]
    #expect(try await other.chain.credentials().accessKeyID == "AKIDBASE")
    other.environment.variables = ["AWS_SHARED_CREDENTIALS_FILE": "elsewhere"]
    #expect(await other.reason() == "elsewhere: AWS_SHARED_CREDENTIALS_FILE is not an absolute path")
    other.environment.variables = ["AWS_SHARED_CREDENTIALS_FILE": "/elsewhere", "AWS_PROFILE": "base"]
    other.environment.profile = nil
    #expect(try await other.chain.credentials().accessKeyID == "AKIDBASE")
  }

  @Test("A role is assumed with the keys of its source profile, signed for the profile's region")
  func role() async throws {
    let bench = bench(
      """
      [profile p]
      role_arn = arn:aws:iam::1:role/r
      source_profile = base
      external_id = e 1
      duration_seconds = 900
      role_session_name = me
      region = eu-west-1
      """, credentials: keys)
    bench.on(.post, "https://sts.eu-west-1.amazonaws.com/", .status(200, content: ProviderBench.xml("AssumeRole")))
    let credentials = try await bench.chain.credentials()
    #expect(credentials.accessKeyID == "ASIAROLE" && credentials.sessionToken == "SENTINEL-token")
    let sent = try #require(bench.stub.exchanges.first)
    #expect(sent.fields[.authorization]?.contains("Credential=AKIDBASE/20150830/eu-west-1/sts/aws4_request") == true)
    #expect(
      sent.text == "Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr&RoleSessionName=me"
        + "&DurationSeconds=900&ExternalId=e+1")
  }

  @Test("Roles are assumed in a chain, and a source profile that is the profile itself uses the profile's own keys")
  func chains() async throws {
    let bench = bench(
      """
      [profile p]
      role_arn = outer
      source_profile = q
      [profile q]
      role_arn = inner
      source_profile = q
      aws_access_key_id = AKIDOWN
      aws_secret_access_key = s
      """)
    bench.stub.onAny(reply: .status(200, content: ProviderBench.xml("AssumeRole")))
    _ = try await bench.chain.credentials()
    let used = bench.stub.exchanges.map { $0.fields[.authorization]?.contains("AKIDOWN") }
    #expect(used == [true, false])
    #expect(bench.stub.exchanges.map { $0.text.contains("RoleArn=inner") } == [true, false])
  }

  @Test(
    "A profile without usable credentials fails with the reason",
    arguments: [
      ("[profile x]", "there is no profile p"), ("[profile p]", "the profile p has no credentials"),
      ("[profile p]\naws_access_key_id = a", "profile p: the access key ID or the secret access key is missing"),
      ("[profile p]\nrole_arn = r", "profile p: role_arn is set without source_profile and credential_source"),
      ("[profile p]\nrole_arn = r\nsource_profile = p", "profile p: it names itself, without keys"),
      (
        "[profile p]\nrole_arn = r\nsource_profile = q\n[profile q]\nrole_arn = r\nsource_profile = p",
        "the profiles name one another: p → q → p"
      ),
      ("[profile p]\nrole_arn = r\nsource_profile = q", "there is no profile p → q"),
      (
        "[profile p]\nrole_arn = r\nsource_profile = q\ncredential_source = Environment",
        "profile p: source_profile and credential_source are both set"
      ),
      ("[profile p]\nrole_arn = r\ncredential_source = Other", "profile p: credential_source Other is not known"),
      (
        "[profile p]\nrole_arn = r\nsource_profile = q\nmfa_serial = m",
        "profile p: the role needs a code of a device (mfa_serial), for which nobody can be asked"
      ),
      ("[profile p]\nsso_session = s", "profile p: there is no sso-session s"),
      ("[profile p]\nsso_start_url = u", "profile p: sso_account_id or sso_role_name is missing"),
      (
        "[profile p]\ncredential_process = ./x",
        "profile p: credential_process names no program with an absolute path or in PATH"
      ),
      (
        "[profile p]\ncredential_process = 'x",
        "profile p: credential_process names no program with an absolute path or in PATH"
      ),
      ("[profile p]\ncredential_process = /x", "profile p: credential_process: programs cannot be run here"),
      ("[profile p\n", "/home/x/.aws/config: line 1: a section has no `]`"),
    ])
  func refusals(config: String, reason: String) async {
    #expect(await bench(config).reason() == reason)
  }

  @Test("The depth of profiles that refer to each other is limited")
  func depth() async {
    let config = (0..<20).map { "[profile p\($0)]\nrole_arn = r\nsource_profile = p\($0 + 1)\n" }.joined()
    #expect(await bench(config, profile: "p0").reason().hasPrefix("too many profiles: p0 → p1"))
  }

  @Test("A role may be assumed with the keys of variables, of a container or of an instance")
  func sources() async throws {
    for (source, variables) in [
      ("Environment", ["AWS_ACCESS_KEY_ID": "ASIA", "AWS_SECRET_ACCESS_KEY": "s"]),
      ("EcsContainer", ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/x"]), ("Ec2InstanceMetadata", [:]),
    ] {
      var bench = bench("[profile p]\nrole_arn = r\ncredential_source = \(source)")
      bench.environment.variables = variables
      bench.stub.onAny(reply: .json(ProviderBench.json()))
      bench.on(.put, "http://169.254.169.254/latest/api/token", .text("t"))
      bench.on("http://169.254.169.254/latest/meta-data/iam/security-credentials/", .text("role"))
      bench.on(.post, "https://sts.amazonaws.com/", .status(200, content: ProviderBench.xml("AssumeRole")))
      #expect(try await bench.chain.credentials().accessKeyID == "ASIAROLE")
      #expect(bench.stub.exchanges.last?.fields[.authorization]?.contains("Credential=ASIA/") == true)
    }
  }

  @Test("A sign-in of the command-line tool yields the credentials of its role")
  func signOn() async throws {
    let config = """
      [profile p]
      sso_session = corp
      sso_account_id = 123
      sso_role_name = dev
      [sso-session corp]
      sso_region = eu-west-1
      sso_start_url = https://corp.awsapps.com/start
      """
    for (expires, isValid) in [
      ("2015-08-30T12:36:01Z", true), ("2015-08-30T12:36:01UTC", true), ("2015-08-30T12:36:00Z", false),
    ] {
      let cached = #"{"accessToken":"SENTINEL-bearer","expiresAt":"\#(expires)"}"#
      var bench = bench(config)
      let read = bench.environment.readFile
      bench.environment.readFile = { path, limit in
        path.hasPrefix("/home/x/.aws/sso/cache/") ? Data(cached.utf8) : try read(path, limit)
      }
      bench.on(
        "https://portal.sso.eu-west-1.amazonaws.com/federation/credentials",
        .json(
          #"{"roleCredentials":{"accessKeyId":"ASIASSO","secretAccessKey":"s","sessionToken":"t","expiration":1440941760000}}"#
        ))
      guard isValid else {
        #expect(await bench.reason() == "profile p: the sign-in has expired; sign in with `aws sso login`")
        continue
      }
      let credentials = try await bench.chain.credentials()
      #expect(credentials.accessKeyID == "ASIASSO")
      #expect(credentials.expiration == ProviderBench.date.addingTimeInterval(3600))
      let sent = try #require(bench.stub.exchanges.first)
      #expect(sent.target == "/federation/credentials?role_name=dev&account_id=123")
      let field = try #require(HTTPField.Name("x-amz-sso_bearer_token"))
      #expect(sent.fields[field] == "SENTINEL-bearer")
    }
  }

  @Test("The file name of a sign-in is the hash of its session, or of its URL in older profiles")
  func cacheNames() async {
    let paths = Mutex<[String]>([])
    for config in [
      "[profile p]\nsso_session = corp\nsso_account_id = 1\nsso_role_name = r\n[sso-session corp]\nsso_region = x",
      "[profile p]\nsso_start_url = corp\nsso_account_id = 1\nsso_role_name = r\nsso_region = x",
    ] {
      var bench = bench(config)
      let read = bench.environment.readFile
      bench.environment.readFile = { path, limit in
        paths.withLock { $0.append(path) }
        return try read(path, limit)
      }
      #expect(await bench.reason() == "profile p: there is no sign-in; sign in with `aws sso login`")
    }
    let names = paths.withLock { $0 }.filter { $0.contains("/sso/") }
    #expect(names.count == 2 && Set(names) == ["/home/x/.aws/sso/cache/\(Self.digestOfCorp).json"])
  }

  private static let digestOfCorp = "ee0bfd2552fbd840c02cc48b6e823320543c450f"

  @Test("A program is run with its arguments, and its output contains the credentials")
  func process() async throws {
    let runs = Mutex<[AWSProgram]>([])
    var bench = bench("[profile p]\ncredential_process = /opt/keys --user \"a b\"")
    bench.environment.variables = ["A": "b"]
    bench.environment.runProgram = { program in
      runs.withLock { $0.append(program) }
      return Data(
        #"{"Version":1,"AccessKeyId":"ASIAPROC","SecretAccessKey":"s","SessionToken":"t","Expiration":"2015-08-30T13:36:00Z"}"#
          .utf8)
    }
    let credentials = try await bench.chain.credentials()
    #expect(credentials.accessKeyID == "ASIAPROC" && credentials.expiration != nil)
    let run = try #require(runs.withLock { $0.first })
    #expect(run.path == "/opt/keys" && run.arguments == ["--user", "a b"] && run.variables == ["A": "b"])
    #expect(run.maximumLength == 65_536 && run.timeout == .seconds(60))
  }

  @Test(
    "A program whose output is not credentials fails, and the error does not contain the output",
    arguments: ["", "{}", "SENTINEL-secret", #"{"Version":2,"AccessKeyId":"a","SecretAccessKey":"s"}"#])
  func processOutput(output: String) async {
    var bench = bench("[profile p]\ncredential_process = /opt/keys")
    bench.environment.runProgram = { _ in Data(output.utf8) }
    #expect(await bench.reason() == "profile p: the output of credential_process cannot be read")
    bench.environment.runProgram = { _ in throw AWSProgramError.timedOut }
    #expect(
      await bench.reason() == "profile p: credential_process: the program took too long and was stopped")
  }
}
