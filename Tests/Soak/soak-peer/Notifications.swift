// Posts, and hears of posts.

internal import DarwinNotify
internal import Dispatch
internal import Glibc
internal import SoakBoard

func post(_ number: UInt32) -> Int32 {
  do {
    try DarwinNotificationCenter.shared.post(name(number))
    return 0
  } catch {
    return -1
  }
}

func observe(_ kind: String) throws -> Never {
  for number in names + [UInt32(SOAK_FENCE)] {
    soak_will_observe(number)
    if kind == "sequence" {
      let notifications = try DarwinNotificationCenter.shared.notifications(named: name(number))
      Task {
        for await event in notifications { soak_heard(number, UInt64(event.coalesced)) }
      }
    } else {
      let delivery = kind == "inline" ? Delivery.inline : .queue(DispatchQueue(label: "soak"))
      kept.append(
        try DarwinNotificationCenter.shared.observe(name(number), on: delivery) { event in
          soak_heard(number, UInt64(event.coalesced))
        })
    }
    soak_did_observe(number)
  }
  soak_ready()
  try receiveGuests()
}

func holdTokens() throws {
  for number in names + [UInt32(SOAK_FENCE)] {
    kept.append(
      try NotifyToken(name(number), on: .queue(DispatchQueue(label: "soak"))) { _ in
        soak_noticed(number)
      })
    soak_did_observe(number)
  }
}

/// Observes the names again and again for a moment, as an observer or as a task that is cancelled.
private func receiveGuests() throws -> Never {
  while true {
    for number in names {
      try receiveObserver(of: name(number))
      try receiveTask(for: name(number))
    }
  }
}

private func receiveObserver(of name: NotificationName) throws {
  let isCancelled = Flag()
  let queue = DispatchQueue(label: "guest")
  let observation = try DarwinNotificationCenter.shared.observe(name, on: .queue(queue)) { _ in
    if isCancelled.isRaised { soak_report("a call after the cancellation") }
  }
  usleep(5000)
  observation.cancelAndWait()
  isCancelled.raise()
}

private func receiveTask(for name: NotificationName) throws {
  let notifications = try DarwinNotificationCenter.shared.notifications(named: name)
  let task = Task {
    for await _ in notifications {}
  }
  usleep(5000)
  task.cancel()
}
