// Observes all names that begin with a prefix, until it has seen two.
// prints: com.example.door.opened
// prints: com.example.door.closed
#include <darwinnotify.hpp>
#include <iostream>
#include <semaphore.h>

int main()
{
        sem_t seen;
        sem_init(&seen, 0, 0);
        auto doors = darwinnotify::center::darwin().observe_prefix(
                "com.example.door.", [&seen](const darwinnotify::event &event) {
                        std::cout << event.name << '\n';
                        sem_post(&seen);
                });

        if (doors.error() < 0)
                return -doors.error();
        for (auto name : { "com.example.door.opened", "com.example.door.closed" }) {
                darwinnotify::post(name);
                sem_wait(&seen);
        }
}
