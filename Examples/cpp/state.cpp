// Shares a number with the other processes of the user, and says what fails.
// prints: the level is 3
// prints: no such name: Invalid argument
#include <cstring>
#include <darwinnotify.hpp>
#include <iostream>

int main()
{
        darwinnotify::state level("com.example.level"), same("com.example.level");

        level.set(3);
        std::cout << "the level is " << same.get() << '\n';

        if (int error = darwinnotify::post(""); error < 0)
                std::cout << "no such name: " << std::strerror(-error) << '\n';
}
