// Specifies who is called for a post, and who is not any more.
import CFNotificationCenter

@Suite(.bounded)
struct CFObservingTests {
  private let log = Log<String>()
  private let bus: PrivateBus

  init() throws { bus = try PrivateBus() }

  /// Registers an observer that writes down a text.
  private func note(
    _ text: String, _ observer: Observer?, in center: CFNotificationCenter, _ name: String?,
    _ object: Object? = nil
  ) {
    add(observer, to: center, name, object) { [log] _, _, _, _, _ in log.append(text) }
  }

  private func remove(
    _ center: CFNotificationCenter, _ observer: Observer, _ name: String?, _ object: Object? = nil
  ) {
    CFNotificationCenterRemoveObserver(
      center, observer.pointer, name.map { CFNotificationName($0) }, object?.pointer)
  }

  @Test(arguments: CenterChoice.allCases)
  func observersAreCalledInTheOrderOfTheirRegistration(of choice: CenterChoice) async throws {
    let (here, there) = try choice.makeEnds(on: bus)
    let (one, two) = (Observer(), Observer())
    note("first", one, in: here, one.name)
    note("second", two, in: here, one.name)
    note("first again", one, in: here, one.name)
    await post(there, one.name, to: here)
    #expect(log.entries == ["first", "second", "first again"])
    CFNotificationCenterRemoveEveryObserver(here, one.pointer)
    await post(there, one.name, to: here)
    #expect(log.entries.dropFirst(3) == ["second"])
  }

  @Test(arguments: CenterChoice.withObjects)
  func onlyTheLocalCenterTellsObjectsOfOneTextApart(_ choice: CenterChoice) async throws {
    let (here, there) = try choice.makeEnds(on: bus)
    let (observer, one, other) = (Observer(), Object("sender"), Object(["se", "nder"].joined()))
    note("hears", observer, in: here, observer.name, one)
    await post(there, observer.name, other, to: here)
    #expect(log.entries.isEmpty == (choice == .local))
    remove(here, observer, nil, other)
    await post(there, observer.name, one, to: here)
    #expect(log.entries == ["hears"])
  }

  @Test(arguments: CenterChoice.withObjects)
  func anObserverOfAnObjectGetsThePointerThatWasRegistered(of choice: CenterChoice) async throws {
    let (here, there) = try choice.makeEnds(on: bus)
    let (observer, sender) = (Observer(), Object("sender"))
    let address = UInt(bitPattern: sender.pointer)
    add(observer, to: here, observer.name, sender) { [log] _, _, _, object, _ in
      log.append("\(UInt(bitPattern: object) == address)")
    }
    await post(there, observer.name, choice == .local ? sender : Object("sender"), to: here)
    #expect(log.entries == ["true"])
  }

  @Test(arguments: CenterChoice.withObjects)
  func removalTakesWhatFitsNameAndObject(of choice: CenterChoice) async throws {
    let (here, there) = try choice.makeEnds(on: bus)
    let (observer, x, y) = (Observer(), Object("x"), Object("y"))
    let (one, two) = (observer.name, observer.name + ".two")

    func heard(afterRemoving name: String?, _ object: Object?) async -> [String] {
      let before = log.entries.count
      note("1x", observer, in: here, one, x)
      note("1y", observer, in: here, one, y)
      note("2x", observer, in: here, two, x)
      remove(here, observer, name, object)
      for name in [one, two] { for object in [x, y, nil] { post(there, name, object) } }
      await drain(here, behind: there)
      CFNotificationCenterRemoveEveryObserver(here, observer.pointer)
      return Array(log.entries.dropFirst(before))
    }

    #expect(await heard(afterRemoving: one, nil) == ["2x"])
    #expect(await heard(afterRemoving: nil, x) == ["1y"])
    #expect(await heard(afterRemoving: one, x) == ["1y", "2x"])
    #expect(await heard(afterRemoving: nil, nil) == [])
    #expect(await heard(afterRemoving: "\(one).other", nil) == ["1x", "1y", "2x"])

    // An observer of every name stays when one name is removed.
    let own = Object("object of \(choice)")
    note("every name", observer, in: here, nil, own)
    remove(here, observer, one)
    let before = log.entries.count
    for (name, object) in [(one, own), (two, own), (one, x)] { post(there, name, object) }
    await drain(here, behind: there)
    #expect(log.entries.dropFirst(before) == ["every name", "every name"])
  }

  @Test(arguments: CenterChoice.allCases)
  func aRegistrationWithoutAnObserverStaysForGood(of choice: CenterChoice) async throws {
    let (here, there) = try choice.makeEnds(on: bus)
    let name = Observer().name
    add(nil, to: here, name) { [log] _, observer, _, _, _ in log.append("\(observer == nil)") }
    CFNotificationCenterRemoveObserver(here, nil, CFNotificationName(name), nil)
    CFNotificationCenterRemoveEveryObserver(here, nil)
    await post(there, name, to: here)
    #expect(log.entries == ["true"])
  }

  @Test func theDarwinCenterKnowsNeitherObjectsNorUserInfos() async throws {
    let (here, there) = try CenterChoice.darwin.makeEnds(on: bus)
    let (observer, x, y) = (Observer(), Object("x"), Object("y"))
    add(observer, to: here, observer.name, x) { [log] center, found, name, object, userInfo in
      log.append("\(name!.rawValue) \(object == nil) \(userInfo == nil) \(center == here)")
      log.append("\(found == observer.pointer)")
    }
    await post(there, observer.name, y, ["key": 1], to: here)
    #expect(log.entries == ["\(observer.name) true true true", "true"])
    remove(here, observer, observer.name, y)
    await post(there, observer.name, to: here)
    #expect(log.entries.count == 2)
  }

  @Test(arguments: CenterChoice.allCases)
  func aCallbackCanRemoveItselfAndOthers(of choice: CenterChoice) async throws {
    let (here, there) = try choice.makeEnds(on: bus)
    let (one, two) = (Observer(), Observer())
    add(one, to: here, one.name) { [log] center, observer, _, _, _ in
      log.append("first")
      CFNotificationCenterRemoveEveryObserver(center, observer)
      CFNotificationCenterRemoveEveryObserver(center, two.pointer)
    }
    note("second", two, in: here, one.name)
    post(there, one.name)
    await post(there, one.name, to: here)
    #expect(log.entries == ["first"])
  }

  @Test(arguments: CenterChoice.allCases)
  func namesAreBytes(of choice: CenterChoice) async throws {
    let (here, there) = try choice.makeEnds(on: bus)
    let observer = Observer()
    let endings = ["caf\u{E9}", "cafe\u{301}", "\u{1F600}", "\u{20BB7}'\"\\,=*", "A", "a", "a."]
    let names = endings.map { "\(observer.name).\($0)" }
    for name in names { note(name, observer, in: here, name) }
    for name in names { post(there, name) }
    await drain(here, behind: there)
    // Those of one process keep their order only for each name.
    #expect(log.entries.count == names.count)
    for name in names {
      #expect(log.entries.count { $0.utf8.elementsEqual(name.utf8) } == 1)
    }
    remove(here, observer, names[0])
    post(there, names[0])
    await post(there, names[1], to: here)
    #expect(log.entries.dropFirst(names.count).map { Array($0.utf8) } == [Array(names[1].utf8)])
  }

  @Test(arguments: CenterChoice.allCases)
  func manyRegistrationsLeaveNothingBehind(of choice: CenterChoice) async throws {
    let (here, _) = try choice.makeEnds(on: bus)
    let (census, observer) = (Census(), Observer())
    let count = 2000 / slowness
    for round in 0..<count {
      let canary = census.makeCanary()
      add(observer, to: here, "\(observer.name).\(round % 4)") { _, _, _, _, _ in canary.sing() }
      CFNotificationCenterRemoveEveryObserver(here, observer.pointer)
    }
    await eventually { census.deaths == count }
  }

  // A registration may be removed before its center has begun to observe.
  @Test func registrationsThatAreRemovedWhileTheyAreMadeLeaveNothingBehind() async throws {
    let center = try #require(CFNotificationCenterGetLocalCenter())
    let (census, observer) = (Census(), Observer())
    let isOver = Flag()
    let count = 2000 / slowness
    Thread.detachNewThread {
      while !isOver.isSet {
        CFNotificationCenterRemoveEveryObserver(center, observer.pointer)
      }
    }
    for _ in 0..<count {
      let canary = census.makeCanary()
      add(observer, to: center, observer.name) { _, _, _, _, _ in canary.sing() }
    }
    isOver.set()
    CFNotificationCenterRemoveEveryObserver(center, observer.pointer)
    await eventually { census.deaths == count }
  }

  @Test func aCallbackIsNotCalledWithoutItsCenter() async throws {
    let (center, observer) = (try bus.makeCenter(), Observer())
    var here: CFNotificationCenter? = CFNotificationCenter(center)
    note("called", observer, in: try #require(here), observer.name)
    here = nil
    let name = NotificationName(observer.name)
    // What was registered later on the same queue is called later.
    let later = try Recorder(center, name, on: .main)
    try center.post(name)
    await eventually { later.posts == 1 }
    #expect(log.entries == [])
  }

  @Test(arguments: CenterChoice.allCases)
  func anObserverThatIsFreedWithoutRemovalIsNotTouched(of choice: CenterChoice) async throws {
    let (here, there) = try choice.makeEnds(on: bus)
    var observer: Observer? = Observer()
    let name = try #require(observer?.name)
    note("called", observer, in: here, name)
    observer = nil
    await post(there, name, to: here)
    #expect(log.entries == ["called"])
  }
}
