#if canImport(SwiftUI)
  import Apus
  public import MoviesService
  public import SwiftUI

  /// The screen itself: it loads when it appears and whenever the text changes, and again when it is pulled down. A
  /// load that a newer one takes the place of, or whose screen goes away, is cancelled.
  public struct MoviesView: View {
    @State private var model: MoviesModel

    /// Makes the screen.
    public init(service: any MoviesService) {
      _model = State(initialValue: MoviesModel(service: service))
    }

    /// The list, with what there was before for as long as nothing newer is there.
    public var body: some View {
      @Bindable var field = model.field
      List(model.films.value ?? []) { film in
        Text(film.title)
      }
      .searchable(text: $field.text)
      .overlay { status }
      .task(id: field.text) { await model.films.load() }
      .refreshable { await model.films.load() }
    }

    @ViewBuilder private var status: some View {
      if model.films.isLoading {
        ProgressView()
      } else if let text = model.errorText {
        Text(text)
      }
    }
  }
#endif
