#!/usr/bin/env python3
"""Asks the player for tracks whose title contains a text, with Debian's python3-dbus."""
import sys

import dbus

player = dbus.SessionBus().get_object("org.example.Player", "/org/example/Player")
tracks = player.Search(
    dbus.Dictionary({"text": sys.argv[1]}, signature="sv"), dbus_interface="org.example.Player"
)
for track in tracks:
    print(f"found {track['number']}: {track['title']}")
