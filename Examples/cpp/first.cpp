// Posts a name, and hears it as every other process of the user does.
// prints: received com.example.changed
#include <darwinnotify.hpp>
#include <iostream>
#include <unistd.h>

int main()
{
        auto changed = darwinnotify::observe(
                "com.example.changed", [](const darwinnotify::event &event) {
                        std::cout << "received " << event.name << std::endl;
                });

        darwinnotify::post("com.example.changed");
        pause(); // handlers run on a thread of the library, until the observer ends
}
