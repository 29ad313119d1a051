"""iceoryx2's event, by its package: no process in between, a name is a service."""

import os
import threading

import iceoryx2

import peer


def open_service(name):
    """Returns the service of a name, and what must live as long."""
    configuration = iceoryx2.config.default()
    configuration.global_cfg.root_path = iceoryx2.Path.new(os.environ["TMPDIR"] + "/iceoryx2/")
    node = iceoryx2.NodeBuilder.new().config(configuration).create(iceoryx2.ServiceType.Ipc)
    return node.service_builder(iceoryx2.ServiceName.new(name)).event().open_or_create(), node


def receive(name, slot):
    service, _node = open_service(name)
    listener = service.listener_builder().create()
    ended = threading.Event()
    threading.Thread(target=lambda: (peer.await_end(), ended.set()), daemon=True).start()
    peer.say("ready")
    while not ended.is_set():  # what it has in memory goes with its objects, not with the process
        for _ in listener.timed_wait(iceoryx2.Duration.from_millis(200)):
            slot.note()


def open_post(name):
    service, _ = kept = open_service(name)
    notifier = service.notifier_builder().create()
    return lambda kept=kept: notifier.notify()


iceoryx2.set_log_level(iceoryx2.LogLevel.Error)
peer.main(receive, open_post)
