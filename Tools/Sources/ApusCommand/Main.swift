import ApusTool
import ArgumentParser

/// The entry point of the program `apus`.
@main
enum Main {
  static func main() async {
    await ApusCommand.main()
  }
}
